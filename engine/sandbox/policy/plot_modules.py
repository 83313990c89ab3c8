"""The modules next to ``pyplot`` for untrusted programs: colours, ticks, shapes, grids, films.

Classes are handles, too: called, they make an object and return its handle. Functions that a
program hands over (frames of an animation, labels of ticks) are the program's own code under its
own guards: they are called with handles and numbers, and what they return is turned into plain
values again.
"""

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradscribe.engine.sandbox.policy import plots
from gradscribe.engine.sandbox.policy.plots import ColorMaps, Handle, given, taken
from gradscribe.engine.sandbox.policy.refusal import Refusal

MplObject = Any
"""A module or an object of Matplotlib, which is not imported here."""
FILM_TYPES = frozenset(("gif", "png", "apng", "webp", "tiff"))
"""Formats in which a film is made; any other becomes a GIF."""

_CLASSES = {
    "matplotlib.colors": "BoundaryNorm CenteredNorm Colormap LightSource LinearSegmentedColormap "
    "ListedColormap LogNorm NoNorm Normalize PowerNorm SymLogNorm AsinhNorm TwoSlopeNorm",
    "matplotlib.cm": "ScalarMappable",
    "matplotlib.ticker": "AutoLocator AutoMinorLocator EngFormatter FixedFormatter FixedLocator "
    "FormatStrFormatter IndexLocator LinearLocator LogFormatter LogFormatterExponent "
    "LogFormatterMathtext LogFormatterSciNotation LogLocator MaxNLocator MultipleLocator "
    "NullFormatter NullLocator PercentFormatter ScalarFormatter StrMethodFormatter "
    "SymmetricalLogLocator",
    "matplotlib.patches": "Annulus Arc Arrow Circle CirclePolygon ConnectionPatch Ellipse "
    "FancyArrow FancyArrowPatch FancyBboxPatch Patch PathPatch Polygon Rectangle RegularPolygon "
    "Shadow StepPatch Wedge",
    "matplotlib.lines": "Line2D",
    "matplotlib.text": "Annotation Text",
    "matplotlib.path": "Path",
    "matplotlib.collections": "CircleCollection EllipseCollection LineCollection PatchCollection "
    "PathCollection PolyCollection RegularPolyCollection",
    "matplotlib.gridspec": "GridSpec GridSpecFromSubplotSpec",
    "matplotlib.tri": "Triangulation",
    "matplotlib.axes": "Axes",
    "matplotlib.figure": "Figure",
    "mpl_toolkits.mplot3d": "Axes3D",
    "mpl_toolkits.mplot3d.axes3d": "Axes3D",
    "mpl_toolkits.mplot3d.art3d": "Line3D Line3DCollection Poly3DCollection Text3D",
    "mpl_toolkits.axes_grid1": "ImageGrid",
}
"""The classes of each module whose objects a program may make."""
_FUNCTIONS = {
    "matplotlib.colors": "hsv_to_rgb is_color_like rgb_to_hsv same_color to_hex to_rgb to_rgba "
    "to_rgba_array",
    "mpl_toolkits.axes_grid1": "make_axes_locatable",
}
_TABLES = {"matplotlib.colors": "BASE_COLORS CSS4_COLORS TABLEAU_COLORS XKCD_COLORS"}
"""Tables of names of colours; each program gets a copy."""


def _names(module: str, more: Callable[[], Mapping[str, object]] = dict) -> Mapping[str, object]:
    real = importlib.import_module(module)
    contents: dict[str, object] = {
        word: given(getattr(real, word)) for word in _CLASSES.get(module, "").split()
    }
    for word in _FUNCTIONS.get(module, "").split():
        contents[word] = plots.wrapped_call(getattr(real, word))
    for word in _TABLES.get(module, "").split():
        contents[word] = dict(getattr(real, word))
    return {**contents, **more()}


def _color_maps() -> Mapping[str, object]:
    maps = importlib.import_module("matplotlib").colormaps
    return {"__getattr__": ColorMaps().__getattr__, "__all__": tuple(maps)}


def _tick_labels() -> Mapping[str, object]:
    return {"FuncFormatter": _formatter}


def _formatter(label: object) -> object:
    """Return a formatter that asks a function of the program."""
    asked = _own(label)
    kind: MplObject = importlib.import_module("matplotlib.ticker").FuncFormatter
    return given(kind(lambda x, place=None: str(taken(asked(given(x), given(place))))))


def _own(function: object) -> Callable[..., object]:
    if not callable(function) or isinstance(function, Handle):
        raise Refusal(f"Matplotlib needs a function here, not a {type(function).__name__}")
    return function


class Film:
    """An animation of an untrusted program: it is shown, and saved where the window offers it."""

    __slots__ = ("__save",)

    def __init__(self, save: Callable[..., None]) -> None:
        self.__save = save

    def save(
        self,
        filename: object,
        writer: object = None,
        fps: object = None,
        dpi: object = None,
        **_options: object,
    ) -> None:
        """Make the film's file for the window; nothing is written."""
        self.__save(filename, getattr(writer, "fps", None) if fps is None else fps, dpi)

    def pause(self) -> None:
        """Do nothing: a film that is shown stands still."""

    resume = pause

    def to_jshtml(self, *_args: object, **_options: object) -> None:
        """Refuse: Matplotlib would write files for it."""
        raise Refusal("A film as HTML is not available to a program from outside")

    to_html5_video = to_jshtml


class FilmWriter:
    """``PillowWriter`` and the writers that would start a program: frames per second alone."""

    __slots__ = ("fps",)

    def __init__(self, fps: object = 5, *_args: object, **_options: object) -> None:
        self.fps = fps if type(fps) in (int, float) else 5


def _film(real: MplObject) -> Film:
    def save(filename: object, fps: object, dpi: object) -> None:
        if type(filename) is not str:
            raise Refusal("save() takes the name of a file here", 'Write save("film.gif").')
        stem, dot, kind = os.path.basename(filename).rpartition(".")
        name = filename if dot and kind.lower() in FILM_TYPES else f"{stem or kind}.gif"
        animation: MplObject = importlib.import_module("matplotlib.animation")
        rate = taken(fps) or 1000.0 / (getattr(real, "_interval", 0) or 200)
        real.save(os.path.basename(name), animation.PillowWriter(fps=rate), dpi=taken(dpi))

    return Film(save)


def _function_film(
    fig: object,
    func: object,
    frames: object = None,
    init_func: object = None,
    fargs: object = (),
    save_count: object = None,
    **words: object,
) -> Film:
    """Return the animation whose frames the program's function draws."""
    draw = _own(func)
    extra: tuple[object, ...] = tuple(fargs or ())  # type: ignore[arg-type]
    artists = bool(words.get("blit"))

    def frame(number: object) -> object:
        drawn = draw(number, *extra)
        return taken(drawn) if artists else None

    def first() -> object:
        drawn = _own(init_func)()
        return taken(drawn) if artists else None

    kind: MplObject = importlib.import_module("matplotlib.animation").FuncAnimation
    return _film(
        kind(
            taken(fig),
            frame,
            frames=_frames(frames),
            init_func=None if init_func is None else first,
            save_count=taken(save_count),
            **plots.checked_words(words),
        )
    )


def _frames(frames: object) -> object:
    """Return what the animation goes through; its values reach the program's function only."""
    if frames is None or type(frames) is int:
        return frames
    if callable(frames) and not isinstance(frames, Handle):
        make = frames

        def again() -> Iterator[object]:
            yield from make()

        return again
    return list(frames)  # type: ignore[call-overload]


def _artist_film(fig: object, artists: object, **words: object) -> Film:
    kind: MplObject = importlib.import_module("matplotlib.animation").ArtistAnimation
    return _film(kind(taken(fig), taken(artists), **plots.checked_words(words)))


def _films() -> Mapping[str, object]:
    writers = ("PillowWriter", "FFMpegWriter", "ImageMagickWriter", "FFMpegFileWriter")
    films = {"FuncAnimation": _function_film, "ArtistAnimation": _artist_film}
    return {**films, **dict.fromkeys(writers, FilmWriter)}


_MORE: dict[str, Callable[[], Mapping[str, object]]] = {
    "matplotlib.cm": _color_maps,
    "matplotlib.ticker": _tick_labels,
    "matplotlib.animation": _films,
    "matplotlib.style": lambda: {"use": plots.Styles().use, "available": plots.Styles().available},
    "mpl_toolkits": dict,
}


def _maker(module: str) -> Callable[[], Mapping[str, object]]:
    return lambda: _names(module, _MORE.get(module, dict))


MODULES: dict[str, Callable[[], Mapping[str, object]]] = {
    module: _maker(module)
    for module in (*_CLASSES, *(name for name in _MORE if name not in _CLASSES))
}
"""The modules, and the factory of the contents of each."""
