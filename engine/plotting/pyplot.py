"""A substitute for ``matplotlib.pyplot`` that records plots, which the window then draws.

A program that plots its losses runs unchanged, whether Matplotlib is installed or not, without a
display and without a file. Unsupported calls are recorded as left out and do nothing else.
"""

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np

from gradscribe.engine.plotting.axes import NullHandle, RecordedAxes
from gradscribe.engine.protocol import figures
from gradscribe.engine.protocol.figures import AxesData, Figure

_QUIET = frozenset(
    "grid tight_layout subplots_adjust tick_params set_aspect margins axis set_xticks set_yticks "
    "set_axis_off xticks yticks ion ioff draw pause style rcParams rc colorbar set_facecolor "
    "autoscale minorticks_on set_size_inches switch_backend spines cm get_cmap".split()
)
"""Calls that change only the look of a plot: they are not reported as left out."""


class RecordedFigure:
    """One figure: its axes, and which of them are current."""

    def __init__(self, owner: "PyplotModule") -> None:
        self._owner = owner
        self.axes: list[RecordedAxes] = []
        self.columns = 1
        self.title = self.name = ""
        self.left_out: list[str] = []

    def ensure_grid(self, rows: int, columns: int) -> list[RecordedAxes]:
        """Return the axes of a grid, created if they do not exist yet."""
        self.columns = columns
        while len(self.axes) < min(rows * columns, figures.MAX_AXES):
            self.axes.append(RecordedAxes(self.skip_call))
        return self.axes

    def gca(self) -> RecordedAxes:
        """Return the current axes."""
        if not self.axes:
            self.axes.append(RecordedAxes(self.skip_call))
        return self.axes[-1] if self._owner.at is None else self.axes[self._owner.at]

    def add_subplot(self, *given: object, **_words: object) -> RecordedAxes:
        """Return a cell of a grid of axes: ``add_subplot(1, 2, 1)`` or ``add_subplot(121)``."""
        rows, columns, place = _grid(given)
        self.ensure_grid(rows, columns)
        self._owner.at = min(place, len(self.axes)) - 1
        return self.axes[self._owner.at]

    def subplots(self, rows: int = 1, columns: int = 1, **words: object) -> object:
        """Return a grid of axes, as Matplotlib shapes them."""
        rows = int(str(words.get("nrows", rows)))
        columns = int(str(words.get("ncols", columns)))
        cells = self.ensure_grid(rows, columns)
        self._owner.at = 0
        if rows * columns == 1 and words.get("squeeze", True):
            return cells[0]
        table = np.empty((rows, columns), dtype=object)
        for place in range(rows * columns):
            table[place // columns, place % columns] = cells[min(place, len(cells) - 1)]
        if not words.get("squeeze", True):
            return table
        return table.ravel() if 1 in (rows, columns) else table

    def suptitle(self, text: object, **_words: object) -> None:
        """Record the figure's title."""
        self.title = figures.clip_label(text)

    def savefig(self, name: object, **_words: object) -> None:
        """Show the figure in the window, which can save it; no file is written here."""
        self.name = figures.clip_label(name)
        self._owner.emit_figure(self)

    def skip_call(self, name: str) -> NullHandle:
        """Record an unsupported call, and return a null object."""
        if name not in _QUIET and name not in self.left_out:
            self.left_out.append(figures.clip_label(name))
        return NullHandle()

    def __getattr__(self, name: str) -> NullHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.skip_call(name)


_SET = frozenset(("title", "xlabel", "ylabel", "xlim", "ylim", "xscale", "yscale"))
"""Functions of this module that are methods of axes with ``set_`` before their name."""


class PyplotModule(ModuleType):
    """The module that programs import as ``plt``."""

    def __init__(self) -> None:
        super().__init__("matplotlib.pyplot", __doc__)
        self.__path__: list[str] = []
        self.begin(lambda _figure: None)

    def begin(self, take: Callable[[Figure], None]) -> None:
        """Forget all figures; ``take`` is called with each that a program shows."""
        self._take, self._open = take, list[RecordedFigure]()
        self._known: list[RecordedFigure] = []
        self.at: int | None = None

    def end(self) -> None:
        """Show the figures that the program has not shown."""
        self.show()
        self._take = lambda _figure: None

    def emit_figure(self, drawing: RecordedFigure) -> None:
        """Emit a figure, once."""
        if drawing not in self._known and any(a.to_data() != AxesData() for a in drawing.axes):
            self._known.append(drawing)
            plots = tuple(axes.to_data() for axes in drawing.axes)
            out = tuple(drawing.left_out)
            columns = max(1, min(drawing.columns, figures.MAX_AXES))
            self._take(Figure(plots, columns, drawing.title, drawing.name, 0, out))

    def show(self, *_args: object, **_words: object) -> None:
        """Emit all open figures and close them."""
        for drawing in self._open:
            self.emit_figure(drawing)
        self.close("all")

    def close(self, *_which: object) -> None:
        """Close all figures."""
        self._open, self.at = [], None

    def figure(self, *_args: object, **_words: object) -> RecordedFigure:
        """Begin a figure."""
        if len(self._open) < figures.MAX_FIGURES:
            self._open.append(RecordedFigure(self))
        self.at = None
        return self._open[-1]

    def gcf(self) -> RecordedFigure:
        """Return the current figure."""
        return self._open[-1] if self._open else self.figure()

    def gca(self, *_args: object, **_words: object) -> RecordedAxes:
        """Return the current axes."""
        return self.gcf().gca()

    def subplots(self, *given: int, **words: object) -> tuple[RecordedFigure, object]:
        """Begin a figure with a grid of axes."""
        drawing = self.figure()
        return drawing, drawing.subplots(*given, **words)  # type: ignore[arg-type]

    def subplot(self, *given: object, **words: object) -> RecordedAxes:
        """Make a cell of a grid of axes current."""
        return self.gcf().add_subplot(*given, **words)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        drawing = self.gcf()
        if name in ("suptitle", "savefig"):
            return getattr(drawing, name)
        return getattr(drawing.gca(), f"set_{name}" if name in _SET else name)


def _grid(given: tuple[object, ...]) -> tuple[int, int, int]:
    if len(given) == 1 and isinstance(given[0], int) and given[0] > 99:
        return given[0] // 100, given[0] // 10 % 10, given[0] % 10
    numbers = [int(number) for number in given if isinstance(number, int)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else (1, 1, 1)


pyplot = PyplotModule()


ALLOWED_NAMES = (
    *"plot scatter bar hist fill_between errorbar axhline axvline imshow semilogx semilogy".split(),
    *"loglog title xlabel ylabel xlim ylim xscale yscale legend grid suptitle figure gcf".split(),
    *"gca subplot subplots show close savefig tight_layout text annotate colorbar step".split(),
)
"""Functions that untrusted programs may call."""


def install_matplotlib() -> None:
    """Install the substitute as ``matplotlib`` and ``matplotlib.pyplot``."""
    package = ModuleType("matplotlib")
    package.__path__ = []
    package.pyplot = pyplot  # type: ignore[attr-defined]
    package.use = NullHandle()  # type: ignore[attr-defined]
    package.rcParams = NullHandle()  # type: ignore[attr-defined]
    for name, module in (("matplotlib", package), ("matplotlib.pyplot", pyplot)):
        module.__spec__ = ModuleSpec(name, None)
        sys.modules.setdefault(name, module)
