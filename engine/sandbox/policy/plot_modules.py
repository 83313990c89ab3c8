"""Submodules of Matplotlib for untrusted programs: factories that return handles."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import Any

from gradscribe.engine.sandbox.policy import plots

MAX_FRAMES = 1000
"""Most frames of an animation."""
ENDLESS_FRAMES = 100
"""Frames of an animation that names no number, as Matplotlib has it."""
Factory = Callable[..., object]


def _factories(module: str, words: str) -> Callable[[], Mapping[str, object]]:
    """Return a maker of the named classes and functions of a module."""

    def make() -> Mapping[str, object]:
        real = importlib.import_module(module)
        return {
            name: thing if isinstance(thing, dict) else plots.wrapped_call(thing)
            for name in words.split()
            if (thing := getattr(real, name, None)) is not None
        }

    return make


class SegmentedColormap:
    """``LinearSegmentedColormap``: only from a list of colours."""

    __slots__ = ()

    def from_list(self, *args: object, **words: object) -> object:
        """Return a colour map that goes through the given colours."""
        colors: Any = importlib.import_module("matplotlib.colors")
        return plots.wrapped_call(colors.LinearSegmentedColormap.from_list)(*args, **words)


def _colors() -> Mapping[str, object]:
    classes = (
        "ListedColormap Normalize NoNorm LogNorm SymLogNorm AsinhNorm PowerNorm TwoSlopeNorm "
        "CenteredNorm BoundaryNorm LightSource to_rgb to_rgba to_rgba_array to_hex is_color_like "
        "same_color rgb_to_hsv hsv_to_rgb"
    )
    found = dict(_factories("matplotlib.colors", classes)())
    real: Any = importlib.import_module("matplotlib.colors")
    for name in ("BASE_COLORS", "TABLEAU_COLORS", "CSS4_COLORS", "XKCD_COLORS"):
        found[name] = dict(getattr(real, name))
    return {**found, "LinearSegmentedColormap": SegmentedColormap()}


def _color_maps() -> Mapping[str, object]:
    maps: Any = importlib.import_module("matplotlib").colormaps
    more = _factories("matplotlib.cm", "ScalarMappable")()
    by_name = {str(name): plots.given(maps[name]) for name in maps}
    return {**by_name, **more, "get_cmap": plots.ColorMaps().get_cmap}


class Animation:
    """An animation whose frames are drawn by a function of the program; it is never saved."""

    __slots__ = ("_real",)

    def __init__(self, real: object) -> None:
        # Matplotlib draws the first frame as long as the animation exists.
        self._real = real

    def pause(self) -> None:
        """Do nothing: the figure shows the first frame."""

    resume = pause


def _frames(frames: object, most: int) -> list[object]:
    """Return what an animation's function is called with, frame by frame."""
    if frames is None:
        return list(range(ENDLESS_FRAMES))
    if type(frames) is int:
        return list(range(min(frames, most)))
    items: Any = frames() if callable(frames) else frames
    return list(islice(iter(items), most))


def _func_animation(
    fig: object,
    func: Factory,
    frames: object = None,
    init_func: Factory | None = None,
    fargs: Iterable[object] | None = None,
    save_count: object = None,
    **words: object,
) -> object:
    """Return an animation; ``func`` is called with handles where Matplotlib hands objects over."""
    real: Any = importlib.import_module("matplotlib.animation")
    limit = min(save_count, MAX_FRAMES) if type(save_count) is int else MAX_FRAMES
    items, more = _frames(frames, limit), tuple(fargs or ())

    def draw(number: int) -> object:
        return plots.taken(func(items[number], *more))

    def begin() -> object:
        return plots.taken(init_func()) if init_func is not None else ()

    plain = {word: plots.taken(value) for word, value in words.items() if word in _WORDS}
    first = {"init_func": begin} if init_func is not None else {}
    return Animation(
        real.FuncAnimation(plots.taken(fig), draw, frames=len(items), **first, **plain)
    )


_WORDS = frozenset(("interval", "repeat", "repeat_delay", "blit"))


def _artist_animation(fig: object, artists: object, **words: object) -> object:
    real: Any = importlib.import_module("matplotlib.animation")
    plain = {word: plots.taken(value) for word, value in words.items() if word in _WORDS}
    return Animation(real.ArtistAnimation(plots.taken(fig), plots.taken(artists), **plain))


def _animations() -> Mapping[str, object]:
    importlib.import_module("matplotlib.animation")
    return {
        "FuncAnimation": _func_animation,
        "ArtistAnimation": _artist_animation,
    }


def _pylab(numbers: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
    return {**numbers(), **plots.pyplot_names()}


def modules(
    numbers: Callable[[], Mapping[str, object]],
) -> dict[str, Callable[[], Mapping[str, object]]]:
    """Return the modules by name; ``numbers`` makes the contents of NumPy, for pylab."""
    styles = plots.Styles()
    return {
        "matplotlib": plots.package_names,
        "matplotlib.animation": _animations,
        "matplotlib.cm": _color_maps,
        "matplotlib.collections": _factories(
            "matplotlib.collections", "LineCollection PatchCollection PolyCollection"
        ),
        "matplotlib.colors": _colors,
        "matplotlib.figure": _factories("matplotlib.figure", "Figure"),
        "matplotlib.gridspec": _factories(
            "matplotlib.gridspec", "GridSpec GridSpecFromSubplotSpec"
        ),
        "matplotlib.lines": _factories("matplotlib.lines", "Line2D"),
        "matplotlib.patches": _factories(
            "matplotlib.patches",
            "Arc Arrow Circle Ellipse FancyArrow FancyArrowPatch FancyBboxPatch Patch Polygon "
            "Rectangle RegularPolygon Wedge ConnectionPatch",
        ),
        "matplotlib.pylab": partial(_pylab, numbers),
        "matplotlib.pyplot": plots.pyplot_names,
        "matplotlib.style": lambda: {"use": styles.use, "available": styles.available},
        "matplotlib.ticker": _factories(
            "matplotlib.ticker",
            "AutoLocator AutoMinorLocator EngFormatter FixedFormatter FixedLocator LinearLocator "
            "LogFormatter LogLocator MaxNLocator MultipleLocator NullFormatter NullLocator "
            "PercentFormatter ScalarFormatter",
        ),
        "mpl_toolkits": dict,
        "mpl_toolkits.axes_grid1": _factories("mpl_toolkits.axes_grid1", "make_axes_locatable"),
        "mpl_toolkits.mplot3d": _factories("mpl_toolkits.mplot3d", "Axes3D"),
        "pylab": partial(_pylab, numbers),
    }
