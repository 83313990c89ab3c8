"""Types of zoo entries.

The functions and classes of entries are pasted verbatim into the exported script, so they must be
plain PyTorch that uses only ``csv``, ``math``, ``torch``, ``nn`` and ``F``, and the imports of
`Written`.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.catalogue import EntryKind, Option, OptionKind, Task
from gradscribe.engine.zoo.provided_files import ProvidedFiles

Options = Mapping[str, JsonValue]
Pasted = tuple[Callable[..., object] | type, ...]
"""Functions and classes to paste into the script, in this order."""


@dataclass(frozen=True)
class Shapes:
    """Requirements for a model: input shape without the batch, number of outputs, and task."""

    shape: tuple[int, ...]
    outputs: int
    task: Task

    @property
    def inputs(self) -> int:
        """The number of values in one example."""
        return math.prod(self.shape)


NUMBERS = ("1", "2", "3", "n")
"""The ``inputs`` of data that are rows of numbers."""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The choices in a form that all entries have in common."""

    options: tuple[Option, ...] = ()
    group: str = ""
    first: bool = False
    """True if it is offered before the others of its group."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """The source of a data section that depends on what a file holds."""

    imports: str
    uses: Pasted
    statements: str
    """They make ``x``, ``y`` and ``class_names``."""
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]
    columns: tuple[tuple[str, int], ...] = ()
    """The columns of the file that are inputs, each with the number of inputs that it becomes."""
    note: str = ""


@dataclass(frozen=True)
class Data(Listing):
    """A data set: ``make(rng=..., **options)`` returns ``x, y`` on the CPU.

    ``x`` is float (n, inputs), float (n, 1, side, side) or int64 (n, length) for tokens; ``y`` is
    float (n, outputs) for a regression, int64 (n,) for classes, int64 (n, length) for tokens.
    """

    make: Callable[..., tuple[object, ...]]
    title: str
    help: str
    task: Task
    inputs: str
    uses: Pasted = ()
    names: tuple[str, ...] = ()
    """Names of the input columns, if any."""
    train: float = 0.8
    """Default share of training data in the window."""
    class_names: bool = False
    """True if ``make`` returns a list of class names as third value."""
    note: Callable[[Options], str] = field(default=lambda _options: "")
    write: Callable[[dict[str, JsonValue], ProvidedFiles], Written] | None = None
    """Writes the section in place of a call of ``make``; raises `SetupError`."""
    noiseless: Options | None = None
    """Options with which ``make`` returns the true function of its only input; None: there is none.
    """
    kind: EntryKind = "data"


@dataclass(frozen=True)
class Model(Listing):
    """A model: ``write(options, shapes)`` returns the Python expression that creates it.

    ``takes`` are the ``inputs`` of data that it accepts, empty for all. ``prepare`` returns source
    that must precede it. ``write`` raises ValueError if it cannot fit.
    """

    write: Callable[[Options, Shapes], str]
    title: str
    help: str
    takes: tuple[str, ...]
    uses: Callable[[Options], Pasted] = field(default=lambda _options: ())
    prepare: Callable[[Options], str] = field(default=lambda _options: "")
    after: Callable[[Options], str] = field(default=lambda _options: "")
    kind: EntryKind = "model"


@dataclass(frozen=True)
class Loss(Listing):
    """A loss: ``write(options)`` returns a Python expression to call with (output, target).

    ``targets`` is the encoding of classes: ``classes`` are class numbers, ``ones`` 0 and 1,
    ``signs`` -1 and +1.
    """

    write: Callable[[Options], str]
    title: str
    help: str
    tasks: tuple[Task, ...]
    targets: str
    uses: Pasted = ()
    kind: EntryKind = "loss"


@dataclass(frozen=True)
class Optimizer(Listing):
    """A class of torch.optim, its options read from its signature."""

    make: type[torch.optim.Optimizer]
    title: str
    help: str
    closure: bool = False
    """True if its step takes a closure that computes the loss, possibly several times."""
    kind: EntryKind = "optimizer"


@dataclass(frozen=True)
class Schedule(Listing):
    """A class of torch.optim.lr_scheduler, stepped after every step; ``metric``: with the loss."""

    make: type[object]
    title: str
    help: str
    metric: bool = False
    kind: EntryKind = "schedule"


ZooEntry = Data | Model | Loss | Optimizer | Schedule

SIZE = Option("n", "int", 200, "Examples", low=4, high=100_000, log=True)
NOISE = Option("noise", "float", 0.1, "Standard deviation of the noise", low=0.0, high=2.0)
PLAYGROUND_SIZE = Option("n", "int", 500, "Examples", low=4, high=100_000, log=True)
PLAYGROUND_NOISE = Option("noise", "float", 0.0, "From 0 to 0.5", low=0.0, high=0.5)

_UNSEEN = {"params", "foreach", "fused", "capturable", "differentiable", "optimizer", "last_epoch"}
_FRACTIONS = {"weight_decay", "lr_decay", "initial_accumulator_value", "momentum", "dampening"}
"""Floats whose default in torch is the int 0."""
_LOG = {"lr", "weight_decay", "eps", "eta_min", "max_lr", "base_lr"}


def read_options(make: type[object], **given: dict[str, object]) -> tuple[Option, ...]:
    """Return one option per argument of a constructor, with its default; all may change in a run.

    ``given`` has what is not in the signature: ranges, help, missing defaults.
    """
    options = []
    for name, parameter in inspect.signature(make).parameters.items():
        more = given.get(name, {})
        default = more.get("default", parameter.default)
        if name in _UNSEEN or default is inspect.Parameter.empty or callable(default):
            continue
        kind: OptionKind | None = more.get("kind") or _kind(default)  # type: ignore[assignment]
        if kind is None:
            continue
        if name in _FRACTIONS | {"min_lr"}:
            kind, default = "float", float(str(default))
        if isinstance(default, tuple):
            default = list(default)
        rest = {k: v for k, v in more.items() if k not in ("kind", "default")}
        if kind == "float" and "low" not in rest and name in _LOG:
            rest["low"] = 0.0
        options.append(
            Option(name, kind, default, log=name in _LOG, live=True, **rest)  # type: ignore[arg-type]
        )
    return tuple(options)


def _kind(default: object) -> OptionKind | None:
    match default:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "text"
        case tuple() | list() if all(isinstance(number, int | float) for number in default):
            return "floats"
    return None
