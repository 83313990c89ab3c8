"""Axes that record what a program plots on them."""

from collections.abc import Callable, Iterator

import numpy as np

from gradscribe.engine.protocol import figures
from gradscribe.engine.protocol.figures import AxesData, Trace, TraceKind

_COLORS = dict(zip("bgrcmykw", "blue green red cyan magenta gold black white".split(), strict=True))
_STYLES = {"--": "dashed", ":": "dotted", "-.": "dashed", "-": "solid"}
_WORDS = {"dashed": "dashed", "dotted": "dotted", "dashdot": "dashed", "None": "none", "": "none"}
_MARKS = "ov^<>sp*hHxXD+.,|_"


def numbers(data: object) -> tuple[float, ...]:
    """Return data as floats, every k-th if there are too many.

    A tensor that requires a gradient raises, as in Matplotlib.
    """
    flat = np.asarray(data, dtype=np.float64).ravel()
    step = -(-flat.size // figures.MAX_POINTS) if flat.size else 1
    return tuple(flat[::step].tolist())


class NullHandle:
    """Null object returned by plotting calls: it accepts any operation and does nothing."""

    def __call__(self, *_args: object, **_words: object) -> "NullHandle":
        """Return itself."""
        return self

    def __getattr__(self, name: str) -> "NullHandle":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self) -> Iterator["NullHandle"]:
        return iter((self,))

    def __getitem__(self, _key: object) -> "NullHandle":
        return self

    def __setitem__(self, _key: object, _value: object) -> None:
        pass


class RecordedAxes:
    """One pair of axes that records what is plotted on it."""

    def __init__(self, skipped: Callable[[str], NullHandle]) -> None:
        self._skipped = skipped
        self._traces: list[Trace] = []
        self._settings: dict[str, object] = {}

    def to_data(self) -> AxesData:
        """Return what was plotted here."""
        return AxesData(traces=tuple(self._traces), **self._settings)  # type: ignore[arg-type]

    def _add(
        self, kind: TraceKind, x: object, y: object, words: dict[str, object]
    ) -> list[NullHandle]:
        if len(self._traces) < figures.MAX_TRACES:
            label = figures.clip_label(words.get("label") or "")
            style = str(words.get("linestyle", words.get("ls", "-")))
            style = _STYLES.get(style, _WORDS.get(style, "solid"))
            marked = bool(words.get("marker"))
            if kind == "line" and style == "none":
                kind, style = "points", "solid"
            color = words.get("color", words.get("c", ""))
            self._traces.append(
                Trace(
                    kind,
                    numbers(x),
                    numbers(y),
                    "" if label.startswith("_") else label,
                    _color(color),
                    style if style != "none" else "solid",  # type: ignore[arg-type]
                    marked,
                    numbers(words["base"]) if "base" in words else (),
                    float(words.get("width", 0.0)),  # type: ignore[arg-type]
                )
            )
        return [NullHandle()]

    def plot(self, *data: object, **words: object) -> list[NullHandle]:
        """Record curves: ``y``, ``x, y``, with or without a format such as ``"r--"``."""
        rest = list(data)
        while rest:
            first = rest.pop(0)
            second = rest.pop(0) if rest and not isinstance(rest[0], str) else None
            style = (
                {**_format(str(rest.pop(0))), **words}
                if rest and isinstance(rest[0], str)
                else words
            )
            y = np.asarray(first if second is None else second, dtype=np.float64)
            x = np.arange(len(y)) if second is None else np.asarray(first, dtype=np.float64)
            if y.shape[:1] != x.shape[:1]:
                shapes = f"have shapes {x.shape} and {y.shape}"
                raise ValueError(f"x and y must have same first dimension, but {shapes}")
            if y.ndim == 2 and y.shape[1] > 1:
                for column in y.T:
                    self._add("line", x, column, dict(style))
            else:
                self._add("line", x, y, dict(style))
        return [NullHandle()]

    def scatter(self, x: object, y: object, *_sizes: object, **words: object) -> NullHandle:
        """Record a scatter plot."""
        if not isinstance(words.get("c", ""), str):
            words.pop("c")
        if np.asarray(x).size != np.asarray(y).size:
            raise ValueError("x and y must be the same size")
        self._add("points", x, y, words)
        return NullHandle()

    def bar(self, x: object, height: object, width: float = 0.8, **words: object) -> NullHandle:
        """Record a bar chart."""
        places = np.asarray(x)
        if places.dtype.kind not in "iufb":
            places = np.arange(places.size)
        self._add("bars", places, height, {**words, "width": width})
        return NullHandle()

    def hist(
        self, data: object, bins: object = 10, **words: object
    ) -> tuple[object, object, NullHandle]:
        """Record a histogram; return counts, edges and a handle as Matplotlib does."""
        flat = np.asarray(data, dtype=np.float64).ravel()
        dense = bool(words.pop("density", False))
        counts, edges = np.histogram(flat, bins=bins, density=dense)  # type: ignore[arg-type]
        middles = (edges[1:] + edges[:-1]) / 2
        self._add("bars", middles, counts, {**words, "width": float(edges[1] - edges[0])})
        return counts, edges, NullHandle()

    def fill_between(self, x: object, y1: object, y2: object = 0.0, **words: object) -> NullHandle:
        """Record the area between two curves."""
        xs = np.asarray(x, dtype=np.float64).ravel()
        low = np.broadcast_to(np.asarray(y2, dtype=np.float64), xs.shape)
        high = np.broadcast_to(np.asarray(y1, dtype=np.float64), xs.shape)
        self._add("area", xs, high, {**words, "base": low})
        return NullHandle()

    def errorbar(self, x: object, y: object, *_errors: object, **words: object) -> NullHandle:
        """Record the curve without its error bars."""
        self._add("line", x, y, words)
        return NullHandle()

    def axhline(self, y: float = 0.0, **words: object) -> NullHandle:
        """Record a horizontal line across the whole plot."""
        self._add("level", (), [float(y)], words)
        return NullHandle()

    def axvline(self, x: float = 0.0, **words: object) -> NullHandle:
        """Record a vertical line from bottom to top."""
        self._add("upright", [float(x)], (), words)
        return NullHandle()

    def imshow(self, data: object, **_words: object) -> NullHandle:
        """Record an image with one number per pixel, the first row at the top."""
        image = np.asarray(data, dtype=np.float64)
        image = image.mean(-1) if image.ndim == 3 else np.atleast_2d(image)
        steps = [-(-side // figures.MAX_IMAGE_SIDE) or 1 for side in image.shape]
        rows = image[:: steps[0], :: steps[1]]
        self._settings["image"] = tuple(tuple(row) for row in rows.tolist())
        return NullHandle()

    matshow = imshow

    def semilogy(self, *data: object, **words: object) -> list[NullHandle]:
        """Record curves with a logarithmic y axis."""
        self._settings["y_log"] = True
        return self.plot(*data, **words)

    def semilogx(self, *data: object, **words: object) -> list[NullHandle]:
        """Record curves with a logarithmic x axis."""
        self._settings["x_log"] = True
        return self.plot(*data, **words)

    def loglog(self, *data: object, **words: object) -> list[NullHandle]:
        """Record curves with logarithmic axes."""
        self._settings["x_log"] = True
        return self.semilogy(*data, **words)

    def set_title(self, text: object, **_words: object) -> None:
        """Record the title."""
        self._settings["title"] = figures.clip_label(text)

    def set_xlabel(self, text: object, **_words: object) -> None:
        """Record the label of the x axis."""
        self._settings["x_label"] = figures.clip_label(text)

    def set_ylabel(self, text: object, **_words: object) -> None:
        """Record the label of the y axis."""
        self._settings["y_label"] = figures.clip_label(text)

    def set_xlim(self, low: object = None, high: object = None, **words: object) -> None:
        """Record the limits of the x axis."""
        self._limit("x_range", low, high, words)

    def set_ylim(self, low: object = None, high: object = None, **words: object) -> None:
        """Record the limits of the y axis."""
        self._limit("y_range", low, high, words)

    def _limit(self, key: str, low: object, high: object, words: dict[str, object]) -> None:
        if isinstance(low, tuple | list) and len(low) == 2:
            low, high = low
        low = words.get("left", words.get("bottom", low))
        high = words.get("right", words.get("top", high))
        if low is not None and high is not None:
            self._settings[key] = (float(low), float(high))  # type: ignore[arg-type]

    def set_xscale(self, scale: str, **_words: object) -> None:
        """Record whether the x axis is logarithmic."""
        self._settings["x_log"] = "log" in scale

    def set_yscale(self, scale: str, **_words: object) -> None:
        """Record whether the y axis is logarithmic."""
        self._settings["y_log"] = "log" in scale

    def set(self, **words: object) -> None:
        """Record several properties at once: ``ax.set(title=..., xlabel=...)``."""
        for word, value in words.items():
            getattr(self, f"set_{word}")(value)

    def legend(self, *given: object, **_words: object) -> None:
        """Record that a legend is shown; a list of names is assigned to the traces in order."""
        self._settings["legend"] = True
        names = given[-1] if given and isinstance(given[-1], list | tuple) else ()
        for place, name in enumerate(names[: len(self._traces)]):
            changed = {f: getattr(self._traces[place], f) for f in Trace.__struct_fields__}
            self._traces[place] = Trace(**{**changed, "label": figures.clip_label(name)})

    def __getattr__(self, name: str) -> NullHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._skipped(name)


def _color(given: object) -> str:
    text = given if isinstance(given, str) else ""
    text = text.removeprefix("tab:").removeprefix("xkcd:")
    return _COLORS.get(text, text)[:20]


def _format(text: str) -> dict[str, object]:
    """Return the keyword arguments that a format such as ``"ro--"`` stands for."""
    found: dict[str, object] = {}
    for style in _STYLES:
        if style in text:
            found["linestyle"] = style
            text = text.replace(style, "", 1)
            break
    for letter in text:
        if letter in _COLORS and "color" not in found:
            found["color"] = _COLORS[letter]
        elif letter in _MARKS:
            found["marker"] = letter
    if text.startswith("C") and text[1:2].isdigit():
        found.pop("color", None)
    if "marker" in found and "linestyle" not in found:
        found["linestyle"] = "None"
    return found
