"""What the engine answers about a training run: plain data."""

import math
import re
from typing import Literal

import numpy as np
from msgspec import Struct

from engine.setup import Setup
from engine.tape import Problem, Tape
from engine.training.parts import Entry, Task

MOST_AXES = 8
MOST_ELEMENTS = 1 << 62
_DTYPE = re.compile(r"[<|](?:[fiu][1248]|b1)|\?")
SERIES_STEPS = 4096
"""Steps in one `Series` message at most."""
MOST_NUMBERS, MOST_SURFACE = 1 << 22, 1 << 20
"""Of a model of more parameters there is no view of all of them, or of the loss over them."""


class Array(Struct, frozen=True, array_like=True, gc=False):
    """A raw buffer: row-major, little-endian numpy ``dtype``."""

    shape: tuple[int, ...]
    dtype: str
    data: bytes

    def __post_init__(self) -> None:
        """Refuse, where it is read from the wire too, what is not as long as it says.

        Raises:
            ValueError: dtype, shape and data do not belong together.
        """
        if not _DTYPE.fullmatch(self.dtype) or len(self.shape) > MOST_AXES:
            raise ValueError(f"no array has {len(self.shape)} axes of {self.dtype[:20]!r}")
        size = max(1, int(self.dtype[2:] or 1))
        if min(self.shape, default=0) < 0 or math.prod(self.shape) * size != len(self.data):
            raise ValueError(f"{len(self.data)} bytes are no {self.dtype} of {self.shape}")

    def array(self) -> np.ndarray:
        """Return it as a numpy array of ``shape``, read-only."""
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)


class Catalogue(Struct, frozen=True, tag=True):
    """All entries that there are, in the order in which they should be offered."""

    run_id: int
    entries: tuple[Entry, ...]
    mistakes: dict[str, str] = {}
    samples: dict[str, Array] = {}
    """Of data sets with one input or two: (m, 3) points, across, up, and the class or target."""


class Parameter(Struct, frozen=True):
    """One parameter of the model: where its elements lie in flat vectors of all of them."""

    name: str
    shape: tuple[int, ...]
    start: int
    module: str = ""
    """The class of the module that holds it."""
    trained: bool = True

    def __post_init__(self) -> None:
        """Refuse, where it is read from the wire too, what lies nowhere. Raises ValueError."""
        if min((self.start, *self.shape)) < 0 or math.prod(self.shape) > MOST_ELEMENTS:
            raise ValueError(f"no parameter has {self.shape}")


class Unit(Struct, frozen=True):
    """One layer whose units can be drawn, in the order they run; ``width`` units."""

    name: str
    kind: str
    width: int


class Begun(Struct, frozen=True, tag=True):
    """A run has been made (or begun anew). ``setup`` has every default filled in.

    ``series`` names the columns of `Series.values`. ``lines`` are (event, text) of the step's lines
    as they are run; events: ``zero_grad``, ``forward``, ``loss``, ``backward``, ``step``...
    """

    run_id: int
    setup: Setup
    task: Task
    parameters: tuple[Parameter, ...]
    units: tuple[Unit, ...]
    series: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    model_text: str
    """``print(model)``."""
    inputs: tuple[str, ...] = ()
    """Names of the model's input columns, features included."""
    classes: tuple[str, ...] = ()
    parent: int | None = None
    parent_step: int = 0
    note: str = ""
    """A word on the data: a file that was sampled, say."""
    resumed: bool = False
    """It goes on where it was saved: its curves so far are with whoever saved it."""
    left: tuple[str, ...] = ()
    """Then: attributes of its modules that were not saved, and start anew."""


class DataShown(Struct, frozen=True, tag=True):
    """The data of a run: inputs before features, targets, and which rows are trained on.

    At most 4,000 rows; ``x``: (n, inputs) float32, ``y``: (n, outputs) float32 or (n,) int64,
    ``train``: (n,) bool. For images and tokens ``x`` keeps its own shape.
    """

    run_id: int
    x: Array
    y: Array
    train: Array
    x_names: tuple[str, ...] = ()
    y_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse, where it is read from the wire too, rows that miss something.

        Raises:
            ValueError: there are more of one than of another, or targets without a number.
        """
        rows = {one.shape[:1] for one in (self.x, self.y, self.train)}
        if len(rows) > 1 or len(self.train.shape) != 1 or 0 in self.y.shape[1:]:
            raise ValueError("data with rows that miss something")


class Series(Struct, frozen=True, tag=True):
    """A stretch of every curve.

    ``steps``: (n,) int64, rising. ``values``: (n, columns) float64 in the order of `Begun.series`:
    ``loss`` (of the step's batch, before its update), ``val`` (validation loss, NaN where it was
    not computed), ``lr``, then ``grad:NAME`` (gradient norm) and ``ratio:NAME`` (norm of the update
    over norm of the weights) for each parameter, NaN where not computed; these are left out where
    none of the steps has any. ``stride``: every stride-th step is told. ``after``: forget the steps
    past this one first (a rewind), else None.
    """

    run_id: int
    steps: Array
    values: Array
    stride: int = 1
    after: int | None = None

    def __post_init__(self) -> None:
        """Refuse, where it is read from the wire too, steps without numbers. Raises ValueError."""
        if len(self.values.shape) != 2 or self.values.shape[:1] != self.steps.shape:
            raise ValueError("curves with steps that miss numbers")


class View(Struct, frozen=True, tag=True):
    """One picture of step ``step``.

    What ``arrays`` holds, by kind (options in brackets):

    - ``boundary`` [``side`` 100, ``around``: a box to fill besides that of the data]: ``grid``
      (classes, side, side) float32, row 0 at the top: for one output the raw output, for classes
      their probabilities; ``box`` (4,): x0, y0, x1, y1.
    - ``fit`` [``points`` 200]: ``x`` (n,), ``y`` (n, outputs).
    - ``residuals``: ``target``, ``output`` (n,), ``train`` (n,) bool.
    - ``units`` [``side`` 24]: ``grid`` (units, side, side) or, of one input, (units, points);
      in the order of `Begun.units`, ``box`` as above. Of pictures [``sample``: which of them]:
      ``samples`` (n, rows, columns), their ``labels`` (n,) int64, and ``layer0``... (units, rows,
      columns), what each layer makes of the one ``chosen``, a fact.
    - ``confusion``: ``train`` and ``val`` (classes, classes) int64: rows are the truth.
    - ``gradients``: ``norms``, ``sizes`` (of the weights), ``ratios``, ``held`` (1 where there is a
      gradient, else 0) (parameters,) float64.
    - ``histograms`` [``bins`` 32, ``of``: ``weight``, ``gradient``, ``activation``]: ``counts``
      (rows, bins) float32, ``edges`` (rows, 2) float32; rows are parameters or units' layers.
    - ``weights``: ``flat`` and ``grads`` (all elements,), as `Parameter.start` tells; float64 where
      a parameter is, else float32.
    - ``optimizer``: for each state, ``momentum_buffer``, ``exp_avg``..., a flat float32 vector.
    - ``surface`` [``side`` 25, ``directions``: ``random``, ``pca`` or ``parameters``; ``span`` 1.0;
      ``x``, ``y``: flat indices for ``parameters``]: ``grid`` (side, side) loss float32, ``a``,
      ``b`` (side,) coordinates, ``path`` (n, 2), ``path_steps`` (n,) int64, ``off`` (n,) float32:
      each point's distance from the plane. ``pca``: the path's first two principal components.
    - ``beside``: nothing but ``facts``: what `engine.train.beside.facts` measures of a run with a
      mistake and of the right one that goes along.
    - ``scores``: nothing but ``facts``: ``train_loss``, ``val_loss``, and for classes
      ``train_right``, ``train_count``, ``val_right``, ``val_count``.
    """

    run_id: int
    kind: str
    step: int
    arrays: dict[str, Array]
    facts: dict[str, float] = {}


Status = Literal["running", "paused", "ended", "failed", "gone"]


class TrainState(Struct, frozen=True, tag=True):
    """Where a run stands.

    ``failed``: ``problem`` says why; a NaN leaves the run paused *before* the step that made it,
    and ``problem.message`` names the first op. ``mode`` is what runs now and ``why`` a word on
    why a faster one is not used. ``event``: the number of events of the next step that have
    happened. ``reached``: the condition that paused it.
    """

    run_id: int
    status: Status
    step: int
    epoch: float = 0.0
    rate: float = 0.0
    """Steps per second of late."""
    mode: Literal["reference", "captured"] = "reference"
    why: str = ""
    event: int = 0
    problem: Problem | None = None
    reached: str = ""
    checkpoints: int = 0


class Happened(Struct, frozen=True, tag=True):
    """One event inside the step after ``step``: its line in `Begun.lines`, and what changed.

    ``changed``: in words, one short line each. ``loss`` once it is known.
    """

    run_id: int
    step: int
    index: int
    event: str
    changed: tuple[str, ...]
    loss: float | None = None
    done: bool = False
    """It was the step's last."""


class Altered(Struct, frozen=True, tag=True):
    """An `Alter` was taken: which settings hold now, and which began the run anew."""

    run_id: int
    step: int
    applied: tuple[str, ...] = ()
    restarts: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    """The step's lines from now on, as in `Begun`; empty where the run begins anew."""
    classes: tuple[str, ...] = ()
    """What the classes are called from now on."""


class WentBack(Struct, frozen=True, tag=True):
    """A run went back past a change: ``now`` holds again, as it did then, instead of ``before``.

    Both have every default filled in. ``lines`` and ``classes`` as in `Begun`.
    """

    run_id: int
    step: int
    before: Setup
    now: Setup
    lines: tuple[tuple[str, str], ...]
    classes: tuple[str, ...] = ()


class StepTape(Struct, frozen=True, tag=True):
    """Everything the step after ``step`` does, or did."""

    run_id: int
    step: int
    tape: Tape
    source: str
    live: bool = False


class FileLooked(Struct, frozen=True, tag=True):
    """A CSV file: its columns, which of them hold numbers, the first rows, or what is wrong.

    A column that holds little but numbers counts as one, so that the rest is told of when it is
    read. ``kinds``: how many different texts were seen in each. ``header``: whether the first row
    names them.
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


class Exported(Struct, frozen=True, tag=True):
    """The bytes of a file to write; ``problem`` where there are none."""

    run_id: int
    kind: str
    data: bytes = b""
    problem: Problem | None = None


class RunKept(Struct, frozen=True, tag=True):
    """A run at ``step`` as bytes that `Resume` takes; ``problem`` where there are none."""

    run_id: int
    step: int
    data: bytes = b""
    problem: Problem | None = None


class TrainProblem(Struct, frozen=True, tag=True):
    """What was asked for cannot be done; the run, if there is one, stays as it was.

    ``place`` is the key of the setup at fault (``model.layers``), or empty. The problem's own place
    is a range of the user's source, where there is one.
    """

    run_id: int
    problem: Problem
    place: str = ""
