"""Messages between the window and the engine: frozen structs of plain data."""

from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.language import LanguageReply, LanguageRequest
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.regions import ReadRegion, Region
from gradscribe.engine.protocol.tape import Problem, Snapshot, Tape
from gradscribe.engine.protocol.training import TrainReply, TrainRequest


class Run(Struct, frozen=True, tag=True):
    """Execute ``source`` in a fresh namespace and record it. ``timeout`` in seconds."""

    run_id: int
    source: str
    filename: str = "<gradscribe>"
    seed: int = 0
    device: str = "cpu"
    timeout: float = 10.0
    event_limit: int = 40_000
    threads: int = 1
    """Threads that torch may use; 0: torch's default. More threads change the last digits."""
    memory: int = 256 << 20
    """Bytes of copied values the engine may store; past it the oldest become summaries."""
    policy: bool = False
    """True if the policy for untrusted programs applies."""
    brief: bool = False
    """True to send only the outcome, for the trial of a fix."""
    examine: bool = True
    """False if nothing is to look for mistakes in it once it has ended."""
    leaves_only: bool = False
    """True for a tape of leaves, error and output alone, not examined; see `Tape.left_out`."""
    full_events: int = 40_000
    """Events for which steps of loops are recorded in full; 0: no step is left out."""
    wanted_steps: tuple[int, int, int] | None = None
    """Line of a loop, and the first and last of its steps to record in full; the program is
    stopped after them."""
    drafts: bool = False
    """True to send what was recorded so far some times while a long program runs."""
    watched_module: str = ""
    """Name of a module whose arguments are stored, to export it."""
    arguments: tuple[str, ...] = ()
    """Arguments of its command line, without its name."""


class Stop(Struct, frozen=True, tag=True):
    """Interrupt the run ``run_id`` if it is still going."""

    run_id: int


class Peek(Struct, frozen=True, tag=True):
    """Ask for all numbers of a snapshot of the latest run, up to ``limit`` elements."""

    run_id: int
    snapshot: int
    limit: int = 1 << 20


class Check(Struct, frozen=True, tag=True):
    """Compare the gradient of one element of a value with finite differences, by running again."""

    run_id: int
    value: int
    index: int = 0


class Gradcheck(Struct, frozen=True, tag=True):
    """Compare the backward of a custom Function, called by this op, with finite differences."""

    run_id: int
    op: int
    """Index in `Tape.ops`."""


class HandName(Struct, frozen=True, array_like=True):
    """A value of the run with the name that hand-written code calls it by.

    ``given``: its gradient may be used, as ``d`` and the name; otherwise that is to be found.
    """

    name: str
    value: int
    given: bool = False


class HandCheck(Struct, frozen=True, tag=True):
    """Compare gradients computed by hand with those of a backward pass, by running up to it.

    With ``value`` the ``code`` is an expression for the gradient of that value. Without, it is
    statements that assign ``dw`` for a value named ``w``.
    """

    run_id: int
    number: int
    """Index of the pass in `Tape.passes`."""
    code: str
    names: tuple[HandName, ...] = ()
    value: int | None = None


CostKind = Literal["no_grad", "modes"]


class MeasureCosts(Struct, frozen=True, tag=True):
    """Measure the computation of the program up to its first backward pass.

    ``no_grad``: with and without recording for backward. ``modes``: the gradient by reverse mode
    and by forward mode.
    """

    run_id: int
    kind: CostKind


class Probe(Struct, frozen=True, tag=True):
    """Run a few lines and trace the cells of the last line's result to its inputs.

    ``policy``: apply the policy for untrusted programs.
    """

    run_id: int
    source: str
    policy: bool = False


ModelFileKind = Literal["pt", "safetensors", "pt2", "onnx", "check"]


class ModelRequest(Struct, frozen=True, tag=True):
    """Write a module of the run as a file, or check the weights of a file against it.

    ``pt`` and ``safetensors`` are its weights, ``pt2`` is a program of torch.export, which needs a
    run with this `Run.watched_module`. ``data`` are the weights that the module gets first, or
    those that are checked: the reply then has them as ``pt``.
    """

    run_id: int
    module: str
    kind: ModelFileKind
    data: bytes = b""
    is_safetensors: bool = False
    """The format of the weights that are checked."""


class Quit(Struct, frozen=True, tag=True):
    """End the engine."""


class DeviceDetails(Struct, frozen=True, array_like=True):
    """A device: its name for torch, the name of the hardware, and its memory in bytes.

    All but the first are empty and 0 where the system does not say them.
    """

    name: str
    title: str = ""
    memory: int = 0
    free: int = 0
    """Bytes that were free when the engine started."""


class Ready(Struct, frozen=True, tag=True):
    """The engine has imported torch and takes requests. ``devices``: ``cpu``, ``cuda:0``..."""

    torch: str
    python: str
    devices: tuple[str, ...]
    pid: int
    kept: tuple[str, ...] = ()
    """Resources its programs cannot access: ``files``, ``network``, ``processes``, ``memory``."""
    details: tuple[DeviceDetails, ...] = ()
    """The hardware of the devices."""


class LineState(Struct, frozen=True, tag=True):
    """The line to an engine on another machine is lost, or there again after some ``seconds``.

    It is made on the window's side, never by an engine; nothing was lost with the line.
    """

    is_up: bool
    host: str
    why: str = ""
    """Reason why it is lost; empty once it is back."""
    seconds: float = 0.0


class Started(Struct, frozen=True, tag=True):
    """A run has begun."""

    run_id: int


class Printed(Struct, frozen=True, tag=True):
    """Text the running program wrote, sent while it runs, in bounded pieces."""

    run_id: int
    text: str


class ComputedScalar(Struct, frozen=True):
    """Numbers that a line of the running program has computed since the last message.

    ``key`` tells the scalars of a run apart. ``called`` is the line whose backward began at it, 0
    for none. ``positions`` are ascending, and comparable within the run alone.
    """

    key: int
    line: int
    called: int
    dtype: str
    numbers: tuple[float, ...]
    positions: tuple[int, ...]


class Computed(Struct, frozen=True, tag=True):
    """Scalars that the running program computes in a loop, sent some times per second.

    The tape, which follows, has all of them exactly.
    """

    run_id: int
    scalars: tuple[ComputedScalar, ...]


class Importing(Struct, frozen=True, tag=True):
    """A run has imported libraries for so many seconds, which do not count for its limit."""

    run_id: int
    seconds: float


class Ended(Struct, frozen=True, tag=True):
    """The program of a run has ended; its tape is being built."""

    run_id: int


class Recorded(Struct, frozen=True, tag=True):
    """A run has ended, with or without an error; ``seconds`` of wall time.

    A draft has what was recorded so far: the program runs on, and the whole follows.
    """

    run_id: int
    tape: Tape
    seconds: float
    spent: bool = False
    """True if the program contaminated the process: the next run needs a fresh engine."""
    outcome: Outcome | None = None
    """The outcome of the run, if that was asked for; the tape then has only its end."""
    is_draft: bool = False


class Peeked(Struct, frozen=True, tag=True):
    """All numbers of a snapshot; ``full`` is None if they are gone."""

    run_id: int
    snapshot: int
    full: Snapshot | None


class Checked(Struct, frozen=True, tag=True):
    """A gradient by autograd and by central differences with step ``eps``."""

    run_id: int
    value: int
    index: int
    autograd: float
    numeric: float
    eps: float
    agrees: bool
    problem: str = ""
    """Reason for which no comparison was possible; empty if it was."""
    tolerance: float = 0.0
    """Largest accepted distance of the two, given the accuracy of differences in this dtype."""
    imaginary: tuple[float, float] | None = None
    """Imaginary parts of a complex element, by autograd and by differences along i."""
    note: str = ""
    """Explanation of the result: a kink, a hook, a place that autograd does not follow."""


class JacobianPair(Struct, frozen=True):
    """The Jacobian of one output by one input: by backward, and by central differences.

    ``input`` is an index among the tensors that require a gradient, ``output`` among the real
    results. The single entry is the one furthest apart: ∂output[of_output] / ∂input[of_input].
    The rows, one for each element of the output, are empty if there are too many.
    """

    input: int
    output: int
    of_output: tuple[int, ...]
    of_input: tuple[int, ...]
    by_backward: float
    by_differences: float
    entries: int
    differ: int
    backward_rows: tuple[tuple[float, ...], ...] = ()
    difference_rows: tuple[tuple[float, ...], ...] = ()


class Gradchecked(Struct, frozen=True, tag=True):
    """A custom Function's Jacobians, for its inputs in this run, computed in ``dtype``."""

    run_id: int
    op: int
    function: str
    dtype: str = ""
    eps: float = 0.0
    agrees: bool = False
    pairs: tuple[JacobianPair, ...] = ()
    problem: str = ""
    """Reason for which no comparison was possible, or gradcheck's objection; else empty."""


HandVerdict = Literal[
    "equal",  # to the bit
    "close",  # up to rounding
    "differs",
    "shape",  # another shape than the tensor's
    "kind",  # neither tensor nor number
    "none",  # autograd has no gradient for it in this pass
    "unnamed",  # the program has no tensor of that name
]


class HandRow(Struct, frozen=True):
    """A gradient by hand next to autograd's.

    ``at`` is the position of the first element that differs, ``own`` and ``true`` the numbers
    there; ``differ`` of ``entries`` elements differ, by at most ``largest``.
    """

    name: str
    value: int
    verdict: HandVerdict
    at: tuple[int, ...] = ()
    own: float = 0.0
    true: float = 0.0
    differ: int = 0
    entries: int = 0
    largest: float = 0.0
    own_shape: tuple[int, ...] = ()
    true_shape: tuple[int, ...] = ()
    dtypes: tuple[str, str] = ("", "")
    """The dtypes by hand and by autograd, if they differ."""


SlipKind = Literal[
    "factor",  # the op's own derivative is missing
    "rule",  # the op's derivative is another one; `Slip.text` says which was taken
    "operand",  # the derivative of a product is `other`, not `value` itself
    "upstream",  # what arrives at the op is missing
    "use",  # the use of `value` in the op is missing in the sum
    "only",  # only the use of `value` in the op is counted
    "sign",
    "transposed",
    "unsummed",  # not summed over the dimensions that were broadcast
    "accumulated",  # ``.grad``, with earlier passes in it
    "itself",  # the value in place of its gradient
    "total",  # the sum of the gradient's elements
]


class Slip(Struct, frozen=True):
    """A mistake that gives exactly the wrong numbers: its place in the chain.

    ``op`` is an index in `Tape.ops`, -1 for none; ``uses`` counts the uses of ``value``.
    """

    kind: SlipKind
    op: int = -1
    value: int = -1
    other: int = -1
    text: str = ""
    uses: int = 0


class HandChecked(Struct, frozen=True, tag=True):
    """The comparison of gradients by hand with autograd's; ``problem``: the code did not run."""

    run_id: int
    number: int
    value: int | None = None
    rows: tuple[HandRow, ...] = ()
    slips: tuple[Slip, ...] = ()
    """The mistakes that each give the numbers of the first row that differs; often one."""
    slip_row: int = -1
    problem: Problem | None = None


CostName = Literal[
    "graph",  # forward, recorded for backward
    "no_grad",  # forward under no_grad
    "reverse",  # forward and one backward pass: the whole gradient
    "jvp",  # forward with a tangent: one directional derivative
    "jvps",  # one of these for each number of the leaves: the whole gradient
]


class CostRow(Struct, frozen=True):
    """Times of a way to compute: median and quartiles of ``runs``, in seconds.

    ``bytes`` are those of the tensors that are alive at most, ``held`` those that are when the
    forward has ended, both without inputs and parameters; -1 if not measured.
    ``estimated``: the time follows from a shorter measurement.
    """

    name: CostName
    seconds: float
    low: float
    high: float
    runs: int
    bytes: int = -1
    held: int = -1
    estimated: bool = False


class MeasuredCosts(Struct, frozen=True, tag=True):
    """Costs of the computation of ``calls`` calls from ``leaves`` leaves, ``entries`` numbers."""

    run_id: int
    kind: CostKind
    rows: tuple[CostRow, ...] = ()
    calls: int = 0
    leaves: int = 0
    entries: int = 0
    device: str = "cpu"
    threads: int = 1
    agrees: bool = True
    """True if both modes gave the same derivative."""
    is_random: bool = False
    """True if ops draw random numbers, so that runs differ."""
    note: str = ""
    """Reason why a row is missing; empty if none is."""
    problem: str = ""


class ModelFile(Struct, frozen=True, tag=True):
    """A module as a file's bytes; ``problem``: the reason in a line if there are none."""

    run_id: int
    module: str
    kind: ModelFileKind
    data: bytes = b""
    problem: str = ""


class Cells(Struct, frozen=True):
    """A tensor as the shape lab shows it.

    ``kind``: ``tensor``, ``array`` (numpy) or ``number``. Tensors of one ``storage`` (an address,
    0: none) share their memory of ``storage_size`` elements; ``stride`` and ``offset`` are in
    elements too.
    """

    name: str
    kind: str
    snapshot: Snapshot
    device: str
    stride: tuple[int, ...]
    offset: int
    contiguous: bool
    requires_grad: bool
    storage: int
    storage_size: int


class Links(Struct, frozen=True):
    """Pairs of cells: ``to[i]`` of result number ``result`` comes from ``source[i]`` of an input.

    Both are flat, row-major indices as little-endian int32. An input without `Links` could not be
    traced.
    """

    result: int
    input: int
    to: bytes
    source: bytes


class Jacobian(Struct, frozen=True):
    """Derivatives of a result's cells (rows) by an input's (columns); little-endian float64."""

    result: int
    input: int
    shape: tuple[int, int]
    data: bytes


class Probed(Struct, frozen=True, tag=True):
    """Result of a few lines: input tensors, result tensors, and the links between their cells."""

    run_id: int
    inputs: tuple[Cells, ...] = ()
    results: tuple[Cells, ...] = ()
    links: tuple[Links, ...] = ()
    jacobians: tuple[Jacobian, ...] = ()
    """All derivatives between small tensors."""
    sharing: tuple[Cells, ...] = ()
    """Other named tensors that share memory with one of these."""
    note: str = ""
    """Description of what could not be traced."""
    text: str = ""
    """The result, if it is no tensor."""
    problem: Problem | None = None


Comparison = Check | Gradcheck | HandCheck | MeasureCosts
"""Requests that run the latest program again, to compare its gradients or their costs."""
Compared = Checked | Gradchecked | HandChecked | MeasuredCosts
RunRequest = Run | Stop | Peek | ReadRegion | Comparison | Probe | ModelRequest
Request = RunRequest | Quit | TrainRequest | LanguageRequest
RunNotice = Started | CurrentLine | Printed | Computed | Importing | Ended
"""Messages about a run that precede its tape."""
RunReply = RunNotice | Recorded | Peeked | Region | Compared | Probed | ModelFile
Reply = Ready | LineState | RunReply | TrainReply | LanguageReply
