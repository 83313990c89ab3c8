"""Training messages from the engine to the window: plain data."""

import math
import re
from typing import Literal

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Task

MAX_AXES = 8
MAX_ELEMENTS = 1 << 62
_DTYPE = re.compile(r"[<|](?:[fiu][1248]|b1)|\?")
SERIES_STEPS = 4096
"""Maximum number of steps in one `SeriesChunk` message."""
QUANTILES = (
    *(0.0, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4),
    *(0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99, 1.0),
)
"""Shares of a tensor's numbers below each number of a row of the view ``spread``."""
SPREAD_SAMPLE = 1 << 16
"""Numbers of a tensor that the view ``spread`` reads of a model of more than
`MAX_VIEW_PARAMETERS`."""
MAX_VIEW_PARAMETERS, MAX_SURFACE_PARAMETERS = 1 << 22, 1 << 20
"""Most parameters of a model with a view of all of them, and of one with a loss surface."""


class RawArray(Struct, frozen=True, array_like=True, gc=False):
    """A raw buffer: row-major, little-endian numpy ``dtype``."""

    shape: tuple[int, ...]
    dtype: str
    data: bytes

    def __post_init__(self) -> None:
        """Check that the data has the length that dtype and shape imply; also when decoding.

        Raises:
            ValueError: dtype, shape and data do not match.
        """
        if not _DTYPE.fullmatch(self.dtype) or len(self.shape) > MAX_AXES:
            raise ValueError(f"no array has {len(self.shape)} axes of {self.dtype[:20]!r}")
        size = max(1, int(self.dtype[2:] or 1))
        if min(self.shape, default=0) < 0 or math.prod(self.shape) * size != len(self.data):
            raise ValueError(f"{len(self.data)} bytes are no {self.dtype} of {self.shape}")

    def array(self) -> np.ndarray:
        """Return a read-only numpy array of ``shape``."""
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)


class Catalogue(Struct, frozen=True, tag=True):
    """All catalogue entries, in the order in which to offer them."""

    run_id: int
    entries: tuple[CatalogueEntry, ...]
    mistakes: dict[str, str] = {}
    samples: dict[str, RawArray] = {}
    """For data sets with one or two inputs: (m, 3) points (x, y, class or target)."""
    left_out: tuple[str, ...] = ()
    """A line for each plug-in that cannot be used."""


class Parameter(Struct, frozen=True):
    """One parameter of the model and the offset of its elements in flat parameter vectors."""

    name: str
    shape: tuple[int, ...]
    start: int
    module: str = ""
    """The class name of the module that owns it."""
    trained: bool = True

    def __post_init__(self) -> None:
        """Reject negative offsets and impossible shapes; also when decoding. Raises ValueError."""
        if min((self.start, *self.shape)) < 0 or math.prod(self.shape) > MAX_ELEMENTS:
            raise ValueError(f"no parameter has {self.shape}")


class UnitLayer(Struct, frozen=True):
    """A layer with ``width`` units that can be drawn; layers are listed in execution order."""

    name: str
    kind: str
    width: int
    output: str = ""
    """Name of the module whose output it is: that of its activation, if that is a module."""

    @property
    def title(self) -> str:
        """Name and type of the module whose output it is: ``1: Tanh``."""
        return f"{self.output or self.name}: {self.kind}"


class RunStarted(Struct, frozen=True, tag=True):
    """Reply to a created (or restarted) run. ``setup`` has every default filled in.

    ``series`` names the columns of `SeriesChunk.values`. ``lines`` are (event, text) pairs of the
    step's statements in order; events: ``zero_grad``, ``forward``, ``loss``, ``backward``...
    """

    run_id: int
    setup: Setup
    task: Task
    parameters: tuple[Parameter, ...]
    units: tuple[UnitLayer, ...]
    series: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...] = ()
    """Names of the model's input columns, features included."""
    classes: tuple[str, ...] = ()
    parent: int | None = None
    parent_step: int = 0
    note: str = ""
    """A remark on the data, such as that a file was sampled."""
    resumed: bool = False
    """True for a run loaded from a save; the window already has its curves so far."""
    left: tuple[str, ...] = ()
    """Attributes of a resumed run that were not saved and have their initial values again."""
    rows: tuple[int, int] = (0, 0)
    """Rows that are trained on, and that are validated on."""
    class_counts: tuple[int, ...] = ()
    """Rows of each of ``classes``."""
    layers: tuple[UnitLayer, ...] = ()
    """The layers whose outputs are collected, by depth: ``units``, and those of other data."""

    @property
    def parameter_count(self) -> int:
        """The number of elements of all parameters."""
        return sum(math.prod(parameter.shape) for parameter in self.parameters)


class DataSample(Struct, frozen=True, tag=True):
    """The data of a run: inputs before features, targets, and which rows are training data.

    At most 4,000 rows; ``x``: (n, inputs) float32, ``y``: (n, outputs) float32 or (n,) int64,
    ``train``: (n,) bool. For images and tokens ``x`` keeps its original shape.
    """

    run_id: int
    x: RawArray
    y: RawArray
    train: RawArray
    x_names: tuple[str, ...] = ()
    y_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that all arrays have the same number of rows; also when decoding.

        Raises:
            ValueError: row counts differ, or targets have an empty dimension.
        """
        rows = {array.shape[:1] for array in (self.x, self.y, self.train)}
        if len(rows) > 1 or len(self.train.shape) != 1 or 0 in self.y.shape[1:]:
            raise ValueError("data with rows that miss something")


class SeriesChunk(Struct, frozen=True, tag=True):
    """New points of every curve.

    ``steps``: (n,) int64, rising. ``values``: (n, columns) float64 as in `RunStarted.series`:
    ``loss`` (of the step's batch, before its update), ``val`` (validation loss, NaN where it was
    not computed), ``lr``, then ``grad:NAME`` (gradient norm) and ``ratio:NAME`` (norm of the update
    over norm of the weights) for each parameter, NaN where not computed; these columns are omitted
    if no step has any. ``stride``: every stride-th step is included. ``after``: first set the steps
    after this one aside (a rewind), else None. ``until``: then bring the steps up to this one back,
    which were set aside, else None.
    """

    run_id: int
    steps: RawArray
    values: RawArray
    stride: int = 1
    after: int | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        """Check that every step has a row of values; also when decoding. Raises ValueError."""
        if len(self.values.shape) != 2 or self.values.shape[:1] != self.steps.shape:
            raise ValueError("curves with steps that miss numbers")


class ViewReply(Struct, frozen=True, tag=True):
    """One view of step ``step``.

    Options, arrays and facts of each kind: see its module in `engine.train.views`. The kind
    ``beside`` has only ``facts``: what `engine.train.serve.paired_run.comparison_facts` measures of
    a run with a mistake and of the correct run paired with it.
    """

    run_id: int
    kind: str
    step: int
    arrays: dict[str, RawArray]
    facts: dict[str, float] = {}


Status = Literal["running", "paused", "ended", "failed", "gone"]


class TrainState(Struct, frozen=True, tag=True):
    """Status of a run.

    ``failed``: ``problem`` says why; a NaN leaves the run paused *before* the step that caused it,
    and ``problem.message`` names the first op. ``mode`` is the mode in use and ``why`` the reason
    why a faster mode is not used. ``event``: how many events of the next step have already run.
    ``reached``: the stop condition that paused it.
    """

    run_id: int
    status: Status
    step: int
    epoch: float = 0.0
    rate: float = 0.0
    """Steps per second since it began to play."""
    mode: Literal["reference", "captured"] = "reference"
    why: str = ""
    event: int = 0
    problem: Problem | None = None
    reached: str = ""
    checkpoints: int = 0


class EventDone(Struct, frozen=True, tag=True):
    """An executed event of the step after ``step``: its index in `RunStarted.lines`, and effects.

    ``changed``: one short line of text per effect. ``loss``: once it is known.
    """

    run_id: int
    step: int
    index: int
    event: str
    changed: tuple[str, ...]
    loss: float | None = None
    done: bool = False
    """True for the last event of the step."""


class SetupChanged(Struct, frozen=True, tag=True):
    """Reply to `ChangeSetup`: the settings now in effect, and those that restarted the run."""

    run_id: int
    step: int
    applied: tuple[str, ...] = ()
    restarts: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    """The step's lines from now on, as in `RunStarted`; empty if the run restarts."""
    classes: tuple[str, ...] = ()
    """Class names from now on."""
    setup: Setup | None = None
    """The setup as it was requested, and its ``base``."""
    base: Setup | None = None


class SetupRestored(Struct, frozen=True, tag=True):
    """Settings restored by a rewind past a change: ``now`` is in effect again, not ``before``.

    Both have every default filled in. ``lines`` and ``classes`` as in `RunStarted`.
    """

    run_id: int
    step: int
    before: Setup
    now: Setup
    lines: tuple[tuple[str, str], ...]
    classes: tuple[str, ...] = ()


class StepTape(Struct, frozen=True, tag=True):
    """The recorded tape of the step after ``step``."""

    run_id: int
    step: int
    tape: Tape
    source: str
    live: bool = False
    done: int = 0
    """Statements of this step that the run has executed already."""


class ColumnSummary(Struct, frozen=True):
    """A column of a table as it is understood."""

    name: str
    kind: str
    """``number``, ``category``, ``days``, ``date parts``; ``text``: too many texts; ``empty``."""
    words: str
    """The format of its cells: ``numbers, decimal comma, 3 missing``."""
    missing: str = "refuse"
    """The treatment of missing values."""
    blanks: int = 0
    """Number of missing values."""
    choices: tuple[str, ...] = ()
    """The kinds as which it can be read."""
    problem: str = ""
    """The first cell that cannot be read, with its row."""


class FileSummary(Struct, frozen=True, tag=True):
    """Summary of a table's file: columns, which are numeric, the first rows, or a problem.

    A column that is mostly numbers counts as numeric, so that reading it reports the other cells.
    ``kinds``: the number of distinct texts in each column. ``header``: whether the first row names
    the columns.
    """

    run_id: int
    path: str
    columns: tuple[str, ...] = ()
    numeric: tuple[bool, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    count: int = 0
    problem: Problem | None = None
    kinds: tuple[int, ...] = ()
    header: bool = True
    details: tuple[ColumnSummary, ...] = ()
    """The columns as they are understood, in order."""
    facts: str = ""
    """The format of the file: encoding, separator, words for missing values."""


class Exported(Struct, frozen=True, tag=True):
    """The bytes of a file to write, or a ``problem``."""

    run_id: int
    kind: str
    data: bytes = b""
    problem: Problem | None = None


class RunSaved(Struct, frozen=True, tag=True):
    """A run at ``step`` as bytes for `ResumeRun`, or a ``problem``."""

    run_id: int
    step: int
    data: bytes = b""
    problem: Problem | None = None


class TrainProblem(Struct, frozen=True, tag=True):
    """Reply to a request that failed; the run, if there is one, is unchanged.

    ``place`` is the setup key at fault (``model.layers``), or empty. ``problem.place`` is a range
    of the user's source, if known.
    """

    run_id: int
    problem: Problem
    place: str = ""
