"""A Matplotlib figure rendered as SVG, or as PNG where the SVG would be too large."""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from gradscribe.engine.plotting.contents import axes_of
from gradscribe.engine.protocol import figures
from gradscribe.engine.protocol.figures import Figure, clip_label

if TYPE_CHECKING:
    from matplotlib import figure as mpl

POINTS_PER_INCH = 72
PNG_DPI = (200, 100, 50, 20)
"""Resolutions of a PNG, the first that fits is taken."""
MAX_PIXELS = 4000
"""Longest side of a PNG."""
_MINE = frozenset(("format", "dpi", "metadata", "backend", "pil_kwargs", "fname"))
"""Options of ``savefig`` that concern the file only."""
_NOT_PAINTED = (b"<filter", b"<linearGradient", b"<text")
"""Elements that the window does not paint: Gouraud shading."""

Save = Callable[..., object]


class _TooLarge(Exception):
    pass


class _Bounded(io.BytesIO):
    """A buffer that ends the writing at once where it grows beyond a limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def write(self, data: object) -> int:
        written = super().write(data)  # type: ignore[arg-type]
        if self.tell() > self._limit:
            raise _TooLarge
        return written


def render(figure: "mpl.Figure", save: Save, options: dict[str, object], name: str = "") -> Figure:
    """Return a figure as it looks now.

    Args:
        figure: the Matplotlib figure.
        save: the original ``Figure.savefig``.
        options: the options of the program's ``savefig``, empty where it only shows the figure.
        name: the file name that the program gave.
    """
    looks = {word: value for word, value in options.items() if word not in _MINE}
    picture, kind, note = _picture(figure, save, looks)
    width, height = (float(side) * POINTS_PER_INCH for side in figure.get_size_inches())
    shrunk = min(1.0, figures.MAX_SIDE_POINTS / max(width, height, 1.0))
    return Figure(
        picture,
        kind,
        max(width * shrunk, 1.0),
        max(height * shrunk, 1.0),
        title=title_of(figure),
        description=describe(figure),
        name=clip_label(name),
        note=note,
        axes=_axes_in(figure, looks),
    )


def _axes_in(figure: "mpl.Figure", looks: dict[str, object]) -> tuple[figures.FigureAxes, ...]:
    """Return the axes with their numbers; none where their place in the picture is not known."""
    from matplotlib import rcParams

    if looks.get("bbox_inches", rcParams["savefig.bbox"]) is not None:
        return ()
    try:
        return axes_of(figure)
    except Exception:  # noqa: BLE001 - raised by the program's own artists, too
        return ()


def _picture(
    figure: "mpl.Figure", save: Save, looks: dict[str, object]
) -> tuple[bytes, Literal["svg", "png"], str]:
    from matplotlib import rc_context

    # Ids that are always the same, letters as shapes: the window needs none of the fonts.
    plain = {"svg.hashsalt": "gradscribe", "svg.fonttype": "path", "svg.image_inline": True}
    with rc_context(plain), _without_warnings():  # type: ignore[arg-type]
        try:
            sink = _Bounded(figures.MAX_SVG_BYTES)
            save(figure, sink, format="svg", metadata={"Date": None}, **looks)
            if not any(part in sink.getvalue() for part in _NOT_PAINTED):
                return sink.getvalue(), "svg", ""
            why = "it has smooth shading"
        except _TooLarge:
            why = f"its SVG would exceed {figures.MAX_SVG_BYTES // 1000} kB"
        for dpi in PNG_DPI:
            inches = max(map(float, figure.get_size_inches()))
            fitting = min(dpi, max(1, int(MAX_PIXELS / max(inches, 0.01))))
            sink = _Bounded(figures.MAX_PNG_BYTES)
            try:
                save(figure, sink, format="png", dpi=fitting, **looks)
            except _TooLarge:
                continue
            note = f"A PNG with {fitting} dots per inch: {why}"
            return sink.getvalue(), "png", note
    raise ValueError("the figure is too large for a picture")


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Hide warnings: the program's own drawing shows them already.

    The filters stay as they are: a change would make Python repeat the program's warnings.
    """
    before = warnings.showwarning
    warnings.showwarning = lambda *_args, **_words: None
    try:
        yield
    finally:
        warnings.showwarning = before


def title_of(figure: "mpl.Figure") -> str:
    """Return the title of a figure, else those of its axes."""
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    return clip_label(", ".join(filter(None, titles[:1] if titles[0] else titles)))


def describe(figure: "mpl.Figure") -> str:
    """Return what the axes of a figure show, in words."""
    return clip_label("; ".join(filter(None, map(_describe_axes, figure.axes[:12]))))


def _describe_axes(axes: object) -> str:
    labels = [getattr(axes, f"get_{word}")() for word in ("title", "xlabel", "ylabel")]
    names = [line.get_label() for line in getattr(axes, "lines", [])]
    counts = [
        f"{count} {word}{'s' if count > 1 else ''}"
        for word, count in (
            ("line", len(names)),
            ("collection", len(getattr(axes, "collections", []))),
            ("patch", len(getattr(axes, "patches", []))),
            ("image", len(getattr(axes, "images", []))),
        )
        if count
    ]
    named = [str(name) for name in names[:6] if not str(name).startswith("_")]
    return ", ".join(filter(None, [*labels, " and ".join(counts), *named])).replace(
        "patchs", "patches"
    )
