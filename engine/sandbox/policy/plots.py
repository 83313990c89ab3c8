"""Matplotlib for untrusted programs: handles of its objects, which give nothing else away.

A program gets `Handle`s with a list of allowed methods. What it hands over is turned into plain
numbers, texts, arrays and the objects behind its handles, so that Matplotlib never calls an object
of the program with one of its own. Files, LaTeX and settings that name programs are left out.
"""

import importlib
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from gradscribe.engine.sandbox.policy.refusal import Refusal

FUNCTIONS = frozenset(
    "plot scatter bar barh hist hist2d hexbin boxplot violinplot errorbar fill fill_between "
    "fill_betweenx stackplot step stem pie eventplot broken_barh axhline axvline axhspan "
    "axvspan axline hlines vlines imshow matshow pcolormesh pcolor contour contourf clabel "
    "quiver quiverkey streamplot tricontour tricontourf tripcolor triplot spy semilogx "
    "semilogy loglog specgram psd acorr xcorr text figtext annotate arrow table legend "
    "figlegend grid title suptitle supxlabel supylabel xlabel ylabel xlim ylim xscale yscale "
    "xticks yticks axis margins tick_params ticklabel_format locator_params minorticks_on "
    "minorticks_off box autoscale colorbar clim figure gcf gca sca axes subplot subplots "
    "subplot_mosaic subplot2grid twinx twiny delaxes cla clf close fignum_exists get_fignums "
    "get_figlabels show draw pause ion ioff isinteractive savefig tight_layout "
    "subplots_adjust setp getp sci gci set_cmap get_cmap bar_label ecdf stairs polar "
    "thetagrids rgrids angle_spectrum magnitude_spectrum phase_spectrum cohere csd".split()
)
"""Functions of pyplot that untrusted programs may call."""
METHODS = FUNCTIONS | frozenset(
    "add_subplot add_axes add_gridspec subfigures plot_surface plot_wireframe plot_trisurf "
    "plot3D scatter3D bar3d contour3D contourf3D view_init invert_xaxis invert_yaxis twinx "
    "twiny inset_axes secondary_xaxis secondary_yaxis label_outer remove set relim "
    "autoscale_view align_labels align_xlabels align_ylabels autofmt_xdate ax_marginals "
    "set_axis_off set_axis_on set_visible indicate_inset_zoom add_patch add_line "
    "add_collection update_ticks minorticks_on tick_left tick_right tick_top tick_bottom "
    "set_label_position flat ravel reversed resampled with_extremes N name set_zlabel "
    "set_zlim set_zticks mouse_init errorbar3D text2D text3D cla clear has_data axes lines "
    "patches texts collections images spines xaxis yaxis zaxis legend_ figure transAxes "
    "transData title ax cbar children markerline stemlines baseline values keys items "
    "colorbar norm cmap vmin vmax legend_elements changed update_datalim number from_list "
    "inverse to_rgba autoscale_None copy append_axes shade hillshade get_gridspec nrows ncols "
    "MOVETO LINETO CURVE3 CURVE4 CLOSEPOLY circle unit_circle unit_rectangle vertices codes "
    "add_artist add_collection3d set_data_3d width_ratios height_ratios left_axis right_axis "
    "cbar_axes triangles simplices".split()
)
"""Attributes that a handle has, next to those that begin with ``set_`` and ``get_``."""
_NEVER = frozenset(
    "set_usetex set_fontproperties get_fontproperties set_font_properties get_font_properties "
    "set_font set_canvas set_picker set_path_effects get_path_effects set_agg_filter "
    "set_snap_func set_mouseover get_default_bbox_extra_artists".split()
)
_REFUSED_WORDS = frozenset(
    "usetex fontproperties font_properties font fname filename backend picker path_effects "
    "agg_filter prop_cycle canvas metadata pil_kwargs".split()
)
"""Keyword arguments that name files and programs, or take objects."""
_SETTINGS = (
    *("figure.", "axes.", "font.size", "font.weight", "font.style", "lines.", "grid.", "xtick."),
    *("ytick.", "legend.", "image.", "savefig.dpi", "patch.", "hist.", "scatter.", "errorbar."),
    *("contour.", "boxplot.", "polaraxes."),
)
"""Beginnings of the settings that a program may read and change."""
_FORMATTING = frozenset(
    "set_major_formatter set_minor_formatter bar_label StrMethodFormatter clabel pie".split()
)
"""Functions that take a text with places for numbers in braces."""
_READS = re.compile(r"\{[^{}:]*[.\[]")
DEPTH = 12
_REAL: "weakref.WeakKeyDictionary[Handle, Any]" = weakref.WeakKeyDictionary()


class Handle:
    """An object of Matplotlib: its drawing methods, and nothing else."""

    __slots__ = ("__weakref__",)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        if not _is_allowed(name):
            raise Refusal(f"Matplotlib's .{name} is not available to a program from outside")
        found = getattr(_REAL[self], name)
        if name == "savefig":
            return lambda file, **words: _save(found, file, words)
        return wrapped_call(found) if callable(found) and not _is_plot(found) else given(found)

    def __call__(self, *args: object, **words: object) -> object:
        """Return the colours that a colour map gives to numbers."""
        return wrapped_call(_REAL[self])(*args, **words)

    def __len__(self) -> int:
        return len(_REAL[self])

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[object]:
        return (given(item) for item in _REAL[self])

    def __getitem__(self, key: object) -> object:
        return given(_REAL[self][taken(key)])

    def __repr__(self) -> str:
        return f"<{type(_REAL[self]).__name__}>"


def _is_allowed(name: str) -> bool:
    return name in METHODS or (name.startswith(("set_", "get_")) and name not in _NEVER)


def _is_plot(thing: object) -> bool:
    """Return whether something callable is an object of its own: a colour map, a locator."""
    return type(thing).__module__ in ("matplotlib.colors", "matplotlib.ticker")


def wrapped_call(function: Callable[..., Any]) -> Callable[..., object]:
    """Return a function for programs, which turns what it gets and what it returns."""
    reads_formats = getattr(function, "__name__", "") in _FORMATTING

    def call(*args: object, **words: object) -> object:
        if reads_formats:
            _check_formats(*args, *words.values())
        return given(function(*map(taken, args), **checked_words(words)))

    return call


def _check_formats(*texts: object) -> None:
    """Refuse a format that reads attributes or items of the number it writes."""
    for text in texts:
        if type(text) is str and _READS.search(text):
            raise Refusal(
                "A format writes a number, nothing that belongs to it",
                "Leave the rest of it out, as in :.2f.",
            )


def checked_words(words: Mapping[str, object], depth: int = DEPTH) -> dict[str, object]:
    """Return what Matplotlib is given for keyword arguments; raises `Refusal`."""
    for word in words:
        if type(word) is not str or word in _REFUSED_WORDS:
            raise Refusal(f"Matplotlib's {word} is not available to a program from outside")
    return {word: taken(value, depth - 1) for word, value in words.items()}


def taken(value: object, depth: int = DEPTH) -> object:
    """Return what Matplotlib is given for a value of the program.

    Raises:
        Refusal: it is neither a number, a text, an array nor a handle.
    """
    kind = type(value)
    if value is None or value is Ellipsis or kind in (bool, int, float, complex):
        return value
    if kind is str:
        return value
    if kind is Handle:
        return _REAL[value]  # type: ignore[index]
    if isinstance(value, torch.Tensor):
        return _array(np.array(value))
    if isinstance(value, np.ndarray | np.generic) and kind.__module__ == "numpy":
        return _array(np.asarray(value))
    if depth and kind in (list, tuple):
        parts = [taken(item, depth - 1) for item in value]  # type: ignore[attr-defined]
        return parts if kind is list else tuple(parts)
    if depth and kind is dict:
        plain: dict[Any, object] = value  # type: ignore[assignment]
        if all(type(key) is str for key in plain):
            return checked_words(plain, depth)
        return {taken(key, 0): taken(item, depth - 1) for key, item in plain.items()}
    if depth and kind is slice:
        part: slice = value  # type: ignore[assignment]
        return slice(taken(part.start, 0), taken(part.stop, 0), taken(part.step, 0))
    if depth and kind in (range, zip, map, set, frozenset, type({}.keys()), type({}.values())):
        return [taken(item, depth - 1) for item in value]  # type: ignore[attr-defined]
    raise Refusal(
        f"Matplotlib cannot be given a {kind.__name__} by a program from outside",
        "Give it numbers, texts, lists, arrays or tensors.",
    )


def _array(array: np.ndarray[Any, Any]) -> object:
    if array.dtype.kind in "biufcUM":
        return np.array(array)
    if array.dtype == object:
        return [taken(item) for item in array.ravel()]
    raise Refusal("Matplotlib cannot be given such an array by a program from outside")


def given(value: object) -> object:
    """Return what a program gets for a result of Matplotlib's."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, np.bool_):
        return value
    if isinstance(value, np.generic):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            return np.array(value)
        handles = np.empty(value.shape, dtype=object)
        for place in np.ndindex(value.shape):
            handles[place] = given(value[place])
        return handles
    if kind in (list, tuple):
        parts = [given(item) for item in value]  # type: ignore[attr-defined]
        return parts if kind is list else tuple(parts)
    if kind is dict:
        plain: dict[Any, object] = value  # type: ignore[assignment]
        return {given(key): given(item) for key, item in plain.items()}
    handle = Handle()
    _REAL[handle] = value
    return handle


class PlotSettings:
    """``rcParams`` of an untrusted program: sizes and looks."""

    __slots__ = ()

    def __getitem__(self, key: object) -> object:
        return given(_settings()[_setting(key)])

    def __setitem__(self, key: object, value: object) -> None:
        _settings()[_setting(key)] = taken(value)

    def update(self, changes: object = (), **more: object) -> None:
        """Change several settings."""
        for key, value in dict(changes, **more).items():  # type: ignore[call-overload]
            self[key] = value


def _settings() -> dict[str, object]:
    package: Any = importlib.import_module("matplotlib")
    settings: dict[str, object] = package.rcParams
    return settings


def _setting(key: object) -> str:
    if type(key) is not str or not key.startswith(_SETTINGS) or key.endswith("prop_cycle"):
        raise Refusal(f"The setting {key} is not available to a program from outside")
    return key


class Styles:
    """``plt.style``: the styles that Matplotlib brings along."""

    __slots__ = ()

    @property
    def available(self) -> list[str]:
        """The names of the styles."""
        return list(importlib.import_module("matplotlib.style").available)

    def use(self, style: object) -> None:
        """Use a style, or several, by name; never a file."""
        for name in style if type(style) in (list, tuple) else (style,):  # type: ignore[attr-defined]
            if type(name) is not str or name not in (*self.available, "default"):
                raise Refusal(f"There is no style {name!r}", "plt.style.available lists them.")
            importlib.import_module("matplotlib.style").use(name)


class ColorMaps:
    """``plt.cm``: colour maps by name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        maps = importlib.import_module("matplotlib").colormaps
        if name not in maps:
            raise AttributeError(f"there is no colour map {name!r}")
        return given(maps[name])

    def __getitem__(self, name: object) -> object:
        return given(importlib.import_module("matplotlib").colormaps[taken(name)])

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(importlib.import_module("matplotlib").colormaps))


def _save(save: Callable[..., object], name: object, words: dict[str, object]) -> None:
    """Show a figure under the name of a file; nothing is written."""
    if type(name) is not str:
        raise Refusal("savefig() takes the name of a file here", 'Write savefig("loss.png").')
    save(name, **checked_words(words))


def _savefig(name: object, **words: object) -> None:
    _save(importlib.import_module("matplotlib.pyplot").gcf().savefig, name, words)


def _later(name: str) -> Callable[..., object]:
    def call(*args: object, **words: object) -> object:
        pyplot = importlib.import_module("matplotlib.pyplot")
        if name in ("setp", "getp"):
            _check_properties(args[1::2])
        return wrapped_call(getattr(pyplot, name))(*args, **words)

    call.__name__ = name
    return call


def _check_properties(names: tuple[object, ...]) -> None:
    """Refuse properties by name that are refused as methods and keyword arguments."""
    for name in names:
        if type(name) is str and (name in _REFUSED_WORDS or f"set_{name}" in _NEVER):
            raise Refusal(f"Matplotlib's {name} is not available to a program from outside")


def pyplot_names() -> Mapping[str, object]:
    """Return the contents of ``matplotlib.pyplot``, which import the real one when called."""
    functions = {name: _later(name) for name in FUNCTIONS}
    more = {"style": Styles(), "rcParams": PlotSettings(), "cm": ColorMaps(), "savefig": _savefig}
    more["rc"] = _change_settings
    return {**functions, **more}


def package_names() -> Mapping[str, object]:
    """Return the contents of ``matplotlib``."""
    return {
        "use": lambda *_args, **_words: None,
        "get_backend": lambda: "agg",
        "rcParams": PlotSettings(),
        "rc": _change_settings,
        "colormaps": ColorMaps(),
        "__version__": str(importlib.import_module("matplotlib").__version__),
    }


def _change_settings(group: object, **changes: object) -> None:
    """Change several settings of one group, or of each of several groups."""
    for name in group if type(group) in (list, tuple) else (group,):  # type: ignore[attr-defined]
        PlotSettings().update({f"{name}.{word}": value for word, value in changes.items()})
