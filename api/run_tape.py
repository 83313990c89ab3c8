"""`RunTape`: a recorded run, by the names of its variables."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.errors import RecordingError
from gradscribe.tape_views import NodeView, OpView, TensorView

if TYPE_CHECKING:
    import networkx as nx

    from gradscribe.engine.protocol.tape import Finding, Problem, Snapshot, Tape
    from gradscribe.playback.flow.ways import Ways
    from gradscribe.playback.svg import Theme
    from gradscribe.playback.tape.index import Index
    from gradscribe.player import TapePlayer


MOST_SVG = 1 << 20
"""Characters of the largest picture that a notebook is given."""


class RunTape:
    """Everything that a recorded run did: ``tape["h"].grad``, ``tape.ops``, ``tape.findings``.

    It has copies of the numbers, so that it changes with nothing. All but `has_begun` raises
    RecordingError before the recording has ended.
    """

    def __init__(self) -> None:
        self._data: Tape | None = None
        self._big: Mapping[int, Snapshot] = {}
        self._text, self._filename = "", ""
        self._findings: tuple[Finding, ...] | None = None
        """The findings that were saved with the run; None if it was recorded here."""
        self._end: Callable[[], object] | None = None
        self.has_begun = False

    def end_when_asked(self, end: "Callable[[], object] | None") -> None:
        """End the recording with ``end`` as soon as something of it is asked for."""
        self._end = end

    def begin(self, text: str, filename: str) -> None:
        """Note the program that is being recorded."""
        self.has_begun = True
        self._text, self._filename = text, filename

    def fill(
        self,
        tape: "Tape",
        findings: "tuple[Finding, ...] | None" = None,
        big: "Mapping[int, Snapshot] | None" = None,
    ) -> None:
        """Take what was recorded, the findings if those are known, and numbers of big tensors."""
        self._data, self._findings, self._big = tape, findings, big or {}

    @property
    def data(self) -> "Tape":
        """The tape as plain data, as the engine writes it."""
        if self._data is None and self._end is not None:
            end, self._end = self._end, None
            end()
        if self._data is None:
            begun = "has not ended" if self.has_begun else "has not begun"
            raise RecordingError(f"The recording {begun}: its tape is there when it has ended")
        return self._data

    @property
    def source(self) -> str:
        """The text of the file whose lines the tape names; empty if it is not known."""
        return self._text

    @property
    def filename(self) -> str:
        """The file whose lines the tape names."""
        return self._filename

    @property
    def error(self) -> "Problem | None":
        """The exception that ended the recording, with its line and a hint; else None."""
        return self.data.error

    @cached_property
    def index(self) -> "Index":
        """Lookups over the tape."""
        from gradscribe.playback.tape.index import Index

        return Index(self.data, self._big)

    @cached_property
    def _named(self) -> dict[str, list[TensorView]]:
        named: dict[str, list[TensorView]] = {}
        of_tensor = self._names_of_tensors()
        for value in self.data.values:
            known = of_tensor.get(self.index.first_version(value.id), ())
            name = value.name or (next(iter(known)) if len(known) == 1 else "")
            if name:
                named.setdefault(name, []).append(TensorView(self.index, value, name))
        return named

    def _names_of_tensors(self) -> dict[int, set[str]]:
        """Return the names of all versions of each tensor, by its first version.

        A variable's name is noted at the end of the recording, on the version that it has then.
        """
        names: dict[int, set[str]] = {}
        for value in self.data.values:
            if value.name:
                names.setdefault(self.index.first_version(value.id), set()).add(value.name)
        return names

    @property
    def names(self) -> tuple[str, ...]:
        """The names that ``tape[...]`` knows, in order of their first values."""
        return tuple(self._named)

    def __getitem__(self, name: str) -> TensorView:
        """Return the last tensor of that name: a variable, or a parameter as ``net.0.weight``.

        Raises:
            KeyError: the run has no tensor of that name; the message proposes the nearest.
        """
        return self.all(name)[-1]

    def all(self, name: str) -> tuple[TensorView, ...]:
        """Return all tensors of that name in order, as of each round of a loop.

        Raises:
            KeyError: the run has no tensor of that name; the message proposes the nearest.
        """
        found = self._named.get(name)
        if found is None:
            from gradscribe.engine.protocol.slips.near_words import nearest

            near = nearest(name, self._named) if isinstance(name, str) else ""
            raise KeyError(f"No tensor {name!r} on the tape" + (f": {near!r}?" if near else ""))
        return tuple(found)

    def __contains__(self, name: object) -> bool:
        """Return whether a tensor has that name."""
        return name in self._named

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._named)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._named)

    def __bool__(self) -> bool:
        """Return True: a tape without names is a tape."""
        return True

    @cached_property
    def ops(self) -> tuple[OpView, ...]:
        """The calls of torch functions, in order of execution."""
        return tuple(OpView(self.index, number) for number in range(len(self.data.ops)))

    @cached_property
    def nodes(self) -> tuple[NodeView, ...]:
        """The backward nodes (``grad_fn``), in order of creation, without AccumulateGrad."""
        return tuple(NodeView(self.index, node) for node in self.data.nodes)

    @cached_property
    def leaves(self) -> tuple[TensorView, ...]:
        """The leaves of autograd that the run met and that a name leads to."""
        values = self.index.values
        return tuple(
            TensorView(self.index, values[leaf.value], leaf.name) for leaf in self.data.leaves
        )

    @cached_property
    def findings(self) -> tuple["Finding", ...]:
        """The mistakes that the doctor finds on the tape: sure ones before hints, then by line."""
        if self._findings is not None:
            return self._findings
        from gradscribe.engine.doctor.examine import examine_safely

        return examine_safely(self.data, self.source)

    def ways(self, name: str) -> "Ways":
        """Return every way from the last tensor of that name to the loss, with local derivatives.

        Raises:
            KeyError: the run has no tensor of that name.
        """
        from gradscribe.playback.flow.ways import ways

        return ways(self.index, self[name].id)

    def to_networkx(self) -> "nx.MultiDiGraph":
        """Return forward and backward of the run as a directed acyclic multigraph.

        Nodes are ``op:N`` (index in `ops`) and ``leaf:ID``; values run along the edges.
        """
        from gradscribe.playback.flow.take_home import to_networkx

        return to_networkx(self.index)

    def to_svg(self, scene: int = -1, theme: "Theme" = "auto") -> str:
        """Return the graph as SVG text, with values and gradients at the end of the run.

        Modules are folded as in the window. ``scene`` is the step of a loop, the last by default;
        ``theme`` is ``light``, ``dark``, or ``auto``, which follows the reader's system.

        Raises:
            IndexError: there is no such scene.
        """
        from gradscribe.playback.svg import to_svg

        return to_svg(self.index, scene, theme)

    def to_png(self, scene: int = -1, scale: float = 2.0) -> bytes:
        """Return `to_svg` as a PNG file; Qt draws it in a process of its own.

        ``scale`` is in pixels per unit of the SVG; big graphs get fewer, 16,000 pixels a side.

        Raises:
            IndexError: there is no such scene.
            RuntimeError: PySide6 is missing, or could not draw it; the message says why.
        """
        from gradscribe.png import draw_png

        return draw_png(self.to_svg(scene, "light"), scale)

    def to_html(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """Return the run as an HTML page that plays it in any browser; also write it to ``path``.

        The page loads nothing from elsewhere. It has the graph with its modules, every step forward
        and backward with the numbers, and the explanations; of a long run it has a part, and says
        which.

        Raises:
            RecordingError: the recording has not ended.
            ValueError: the file cannot be written; the message says why.
        """
        from gradscribe.playback.web_page.document import to_html

        page = to_html(self.index, self.source, Path(self.filename).name, self.findings)
        if path is not None:
            from gradscribe.tape_store import write_page

            write_page(page, path)
        return page

    def player(self, height: int = 640) -> "TapePlayer":
        """Return the page of `to_html` for a notebook: fold, play, step and scrub below the cell.

        It runs in a frame that can reach neither the notebook nor the network. ``height`` is that
        of the frame in pixels, from 200 to 4,000.

        Raises:
            RecordingError: the recording has not ended.
            ValueError: ``height`` is out of its range.
        """
        from gradscribe.player import LEAST_HEIGHT, MOST_HEIGHT, TapePlayer

        if not LEAST_HEIGHT <= height <= MOST_HEIGHT:
            raise ValueError(f"height has to be from {LEAST_HEIGHT} to {MOST_HEIGHT}, not {height}")
        return TapePlayer(self.to_html(), repr(self)[1:-1], int(height))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the run to a file, which `load`, the window and ``gradscribe diff`` open.

        It has the program's text, its findings and every number that the tape has. By custom the
        name ends in ``.tape``.

        Raises:
            RecordingError: the recording has not ended.
            ValueError: the run is too long, or the file cannot be written; the message says why.
        """
        from gradscribe.tape_store import save

        save(self.data, self.findings, self.source, self.filename, path, self._big)

    def open(self, at: int | TensorView | None = None) -> None:
        """Show the run in the window used last, or else in a new one, and return at once.

        Args:
            at: position to show, in events, or a tensor of this tape that has just been made
                there; None for the end.

        Raises:
            RecordingError: the recording has not ended.
            RuntimeError: the window refuses the run, or none can be started.
            TypeError, ValueError: ``at`` is no position.
        """
        from gradscribe.tape_window import show

        show(self, at)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Return the graph as SVG and a line of text, which notebooks call for."""
        shown = {"text/plain": repr(self)}
        if self._data is None:
            return shown
        # A notebook would show an error instead of the line.
        with contextlib.suppress(Exception):
            svg = self.to_svg()
            if len(svg) <= MOST_SVG:
                shown["image/svg+xml"] = svg
            else:
                shown["text/plain"] += ": its graph is too big for a notebook, see to_svg()"
        return shown

    def _mime_(self) -> tuple[str, str]:
        """Return the graph as SVG, else a line of text, which marimo calls for."""
        shown = self._repr_mimebundle_()
        kind = "image/svg+xml" if "image/svg+xml" in shown else "text/plain"
        return kind, shown[kind]

    def __repr__(self) -> str:
        """Return a line: file, number of ops, nodes and leaves, and the error."""
        if self._data is None:
            return "<RunTape: the recording has not ended>"
        data = self._data
        counts = f"{len(data.ops)} ops, {len(data.nodes)} nodes, {len(data.leaves)} leaves"
        failed = f", {data.error.type}" if data.error is not None else ""
        is_cell = "ipykernel_" in self._filename or self._filename.startswith("<ipython-input")
        return f"<RunTape of {'a cell' if is_cell else self._filename}: {counts}{failed}>"
