"""The tape: everything a run did, as plain data.

Neither torch nor Qt is imported here: the engine writes tapes, the window only reads them.

Identity: values, backward nodes and repeated node runs draw their ids from one counter, so ids are
unique across them. An edge may therefore point at a node or at a leaf value without saying which.
Snapshots (numbers at one moment) are shared: records refer to them by index in `Tape.snapshots`.
"""

import math
from typing import Literal

import numpy as np
from msgspec import Struct, field

from gradscribe.engine.protocol.figures import Figure

FORMAT = 1
INLINE_ELEMENTS = 1024
"""Tensors of at most this many elements are sent with all their numbers, others as summaries."""


HIDDEN = "hidden"
"""The `Snapshot.store` of numbers that the user is to find; they are not there."""


class Snapshot(Struct, frozen=True, array_like=True, gc=False):
    """The numbers of one tensor at one moment.

    ``data`` holds all elements, row-major and little-endian, as numpy dtype ``store`` (half and
    bfloat16 are widened to float32, which is exact); it is None for tensors past
    `INLINE_ELEMENTS`, whose statistics and thumbnail are filled in instead. Statistics are over
    finite and non-finite elements alike, as torch gives them; ``nan`` and ``inf`` count elements.
    """

    shape: tuple[int, ...]
    dtype: str
    store: str = "<f4"
    data: bytes | None = None
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    norm: float | None = None
    nan: int = 0
    inf: int = 0
    thumb: bytes | None = None
    thumb_shape: tuple[int, int] = (0, 0)
    """Rows and columns of ``thumb``, a float32 grid that samples the tensor as a matrix."""

    @property
    def is_hidden(self) -> bool:
        """True if the numbers were taken out because the user is to find them."""
        return self.store == HIDDEN

    @property
    def numel(self) -> int:
        """Number of elements of the tensor (not of the thumbnail)."""
        return math.prod(self.shape)

    def array(self) -> np.ndarray | None:
        """Return all elements as a numpy array of ``shape``, or None if they were not sent."""
        if self.data is None:
            return None
        return np.frombuffer(self.data, dtype=self.store).reshape(self.shape)

    def item(self) -> float | int | bool | complex | None:
        """Return the number of a one-element tensor, else None."""
        array = self.array()
        if array is None or array.size != 1:
            return None
        number: float | int | bool | complex = array.reshape(-1)[0].item()
        return number


class Place(Struct, frozen=True, array_like=True, gc=False):
    """A range of the source text: lines from 1, columns from 0 in characters, end exclusive."""

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


Role = Literal["parameter", "data", "constant", "result"]


class Value(Struct, frozen=True, array_like=True, gc=False):
    """One version of one tensor.

    An in-place change creates a new value of the same ``tensor``. ``role``: a *parameter* is a leaf
    that requires a gradient, *data* a leaf that does not, a *constant* came out of detach or a
    ``.grad``, a *result* is the output of an op or of a backward pass.
    ``node``/``output_nr`` name the backward node (``grad_fn``) and the input of it that takes this
    value's gradient.
    """

    id: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool
    is_leaf: bool
    version: int
    snapshot: int | None
    role: Role
    tensor: int
    storage: int
    stride: tuple[int, ...] = ()
    offset: int = 0
    contiguous: bool = True
    base: int | None = None  # the value of which this is a view
    op: int | None = None
    """The op that returned it; None for leaves and for tensors from outside the tape."""
    maker: str = ""  # the factory of a leaf: ``randn``, ``Linear.weight``; else empty
    node: int | None = None
    output_nr: int = 0
    place: Place = Place()
    examples: int = 0
    """Examples of the batch, inside a vmap: its numbers are those of the first; 0 outside."""


class Arg(Struct, frozen=True, array_like=True, gc=False):
    """One argument of an op: a tensor (``value``) or a literal (``text``), with its keyword."""

    value: int | None = None
    text: str = ""  # the literal as Python writes it; for a tensor empty
    number: float | None = None  # the literal's value if it is a number
    name: str = ""
    """The variable with the literal's value, if the source names one."""
    keyword: str = ""


Phase = Literal["forward", "backward", "update"]


class Op(Struct, frozen=True, array_like=True, gc=False):
    """A call of a torch function that took a tensor and returned or changed a tensor.

    ``nodes`` are all backward nodes that the call created, ``node`` that of its (first) result.
    ``phase``: it ran in the user's forward code, inside a backward node, or inside an optimizer's
    step. ``call`` is the index of the module call around it, or None.
    """

    id: int
    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    args: tuple[Arg, ...]
    place: Place
    scope: str
    call: int | None
    node: int | None
    nodes: tuple[int, ...] = ()
    grad_mode: bool = True
    phase: Phase = "forward"
    inplace: bool = False


class StateEntry(Struct, frozen=True, array_like=True, gc=False):
    """A tensor of a module by its path inside it; ``kind``: parameter, buffer or unsaved buffer."""

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool


class Call(Struct, frozen=True, array_like=True, gc=False):
    """One call of a module; ``parent`` is the index of the call around it.

    ``name`` is the path from the outermost module's variable (``net.0``), ``module`` identifies the
    object (two calls of one module share it), ``parameters`` counts elements of its parameters,
    ``about`` is torch's own ``extra_repr`` (``2 -> 8`` is derived from it by the views).
    """

    id: int
    name: str
    kind: str
    parent: int | None
    module: int
    training: bool
    parameters: int
    about: str = ""
    hooks: tuple[str, ...] = ()
    """The hooks on it at this call: ``forward: log_shape``."""
    state: tuple[StateEntry, ...] = ()
    """Parameters and buffers of an outermost module at its first call, and at those before which
    they have changed; else empty."""


class Saved(Struct, frozen=True, array_like=True, gc=False):
    """A tensor that a backward node saves until it has run.

    ``name`` is torch's own (``self``, ``other``, ``result``), ``value`` the value id if the tensor
    is an input or output of the op, ``size`` its elements' size in bytes. Tensors of one
    ``storage`` share their memory.
    """

    name: str
    value: int | None
    shape: tuple[int, ...]
    dtype: str
    size: int
    storage: int


class Node(Struct, frozen=True, array_like=True, gc=False):
    """One backward node (``grad_fn``). AccumulateGrad is not listed: edges name the leaf instead.

    ``next``: for each of torch's ``next_functions`` the node id or leaf value id it leads to and
    the input there, or None if no gradient flows. ``saved`` names all saved variables, numbers
    included, ``kept`` lists the tensors among them, alive from event position ``made`` on until
    ``freed`` (None: until the program ended).
    """

    id: int
    name: str
    op: int | None
    next: tuple[tuple[int, int] | None, ...]
    saved: tuple[str, ...] = ()
    kept: tuple[Saved, ...] = ()
    made: int = 0
    freed: int | None = None


class Edge(Struct, frozen=True, array_like=True, gc=False):
    """A gradient sent along an edge, by the ``slot``-th next function of the sending node.

    ``execution`` is the index of the execution that sent it, None for the seed that `backward`
    feeds into the root. ``target`` is a node id or a leaf value id. ``gradient`` is the snapshot
    sent, None if autograd sent no tensor.
    """

    execution: int | None
    slot: int
    target: int
    input_nr: int
    gradient: int | None
    run: int


class Execution(Struct, frozen=True, array_like=True, gc=False):
    """One run of a backward node.

    ``id`` equals the node's id the first time and is new each further time. ``received`` are the
    node's inputs, one snapshot per output of its op (after the user's tensor hooks, if any),
    ``edges`` the indices of the edges it sent. ``run`` is the index of the backward pass.
    """

    id: int
    node: int
    order: int
    run: int
    received: tuple[int | None, ...]
    edges: tuple[int, ...]
    hooked: bool = False
    """True if a user's hook changed the input, so that it need not equal the edges' sum."""


class Accumulation(Struct, frozen=True, array_like=True, gc=False):
    """A gradient added to a leaf's ``.grad``: ``before`` (None: there was none) + ``sent``."""

    leaf: int
    before: int | None
    sent: int | None
    after: int | None
    run: int


class Pass(Struct, frozen=True, array_like=True, gc=False):
    """One call of ``backward`` or ``autograd.grad``: its roots (value ids) and their seeds.

    ``inputs`` are those that were asked for, each as the node or leaf value and the input there
    that takes its gradient (None: it has none); empty if all leaves were. ``results`` are the value
    ids of what ``grad`` returned, in the same order. With ``create_graph`` a gradient that has a
    node of its own is a value, which exists from an event within the pass on.
    """

    kind: Literal["backward", "grad"]
    line: int
    roots: tuple[int | None, ...]
    seeds: tuple[int | None, ...]
    retain_graph: bool
    create_graph: bool
    inputs: tuple[tuple[int, int] | None, ...] = ()
    results: tuple[int | None, ...] = ()


class Change(Struct, frozen=True, array_like=True, gc=False):
    """One parameter changed by an optimizer's step: the value before and after."""

    before: int
    after: int


Memory = tuple[int, str, int | None]
Rewrite = tuple[tuple[int, int], ...]  # leaf values, and the snapshots of their new .grad


class Step(Struct, frozen=True, array_like=True, gc=False):
    """One ``optimizer.step()``; ``memory``: value id, state name (``exp_avg``), its snapshot."""

    optimizer: str
    line: int
    changes: tuple[Change, ...]
    lr: float | None = None
    held: int = -1
    """Index in `Tape.held` of the optimizer's parameters; -1 if unknown."""
    memory: tuple[Memory, ...] = ()


EventKind = Literal[
    "leaf",  # a leaf came into being; ref = value id
    "op",  # ref = index in ops
    "enter",  # a module was entered; ref = index in calls
    "leave",  # ref = index in calls
    "backward",  # a pass began; ref = index in passes
    "node",  # a backward node ran; ref = index in executions
    "accumulate",  # ref = index in accumulations
    "end",  # a pass ended; ref = index in passes
    "step",  # ref = index in steps
    "zero_grad",  # gradients were reset; ref = index in resets
    "write",  # numbers changed through a view, .data, numpy; ref = index in writes
    "grad",  # the program changed or set gradients by itself; ref = index in rewrites
    "gap",  # steps of a loop passed that are not recorded in full; ref = index in gaps
    "print",  # ref = index in prints
    "error",  # ref = 0; see Tape.error
]


class Event(Struct, frozen=True, array_like=True, gc=False):
    """One thing that happened; a position of p means that the first p events have happened."""

    kind: EventKind
    ref: int
    line: int


class Reset(Struct, frozen=True, array_like=True, gc=False):
    """Gradients that were reset: the leaf values, and whether to None or to zeros."""

    leaves: tuple[int, ...]
    to_none: bool


class Gap(Struct, frozen=True, array_like=True, gc=False):
    """Steps ``first`` to ``last`` of a loop that were not recorded in full.

    ``loop`` is its index in `Tape.step_loops`. ``changes`` and ``gradients`` are what the steps
    changed altogether; a snapshot of None: the leaf has no ``.grad`` any more.
    """

    loop: int
    first: int
    last: int
    changes: tuple[Change, ...] = ()
    gradients: tuple[tuple[int, int | None], ...] = ()


ColumnKind = Literal[
    "loss",  # the scalar that backward was called on at ``line``
    "scalar",  # a number that the program read at ``line``: ``.item()``
    "rate",  # the learning rate of the optimizer ``name``, at least where it changes
    "gradient",  # the norm of the gradient of the parameter ``value``
    "update",  # the norm of its change, divided by its own norm
    "time",  # seconds
]


class StepColumn(Struct, frozen=True, array_like=True, gc=False):
    """A number of each step that was not recorded in full.

    ``steps`` has the steps that have a number, ascending, as little-endian uint32, ``numbers``
    their numbers as float64. ``value`` is the first value id of the parameter that it is about.
    """

    kind: ColumnKind
    name: str
    line: int
    value: int | None
    steps: bytes
    numbers: bytes


class StepLoop(Struct, frozen=True, array_like=True, gc=False):
    """A loop whose steps were recorded in part; steps count from 1 over all its runs.

    ``full`` has (step, first event) of those that were recorded, each up to the next one or to the
    next gap. ``prints`` has (step, index in `Tape.prints`) of lines printed in the others.
    """

    line: int
    end_line: int
    steps: int
    full: tuple[tuple[int, int], ...]
    columns: tuple[StepColumn, ...] = ()
    prints: tuple[tuple[int, int], ...] = ()


class Problem(Struct, frozen=True):
    """An error as shown to the user: torch's own message, a hint, and its place."""

    type: str
    message: str
    hint: str = ""
    place: Place = Place()
    trace: tuple[str, ...] = ()
    """For an internal error of the engine: the places in its source, outermost first."""
    fix: str = ""
    """The whole program with the edit that the hint speaks of; empty if none is known."""


class Leaf(Struct, frozen=True, array_like=True, gc=False):
    """A named leaf at the end of the program, and its final ``.grad`` (None if torch has None)."""

    name: str
    value: int
    grad: int | None


class Finding(Struct, frozen=True):
    """Something the doctor noticed: ``id`` is stable and named after the mistake.

    ``place`` is what to look at first, ``related`` are the other places. ``message`` has the
    measurements, ``fix`` the whole program with a fix, else ``why_no_fix`` the reason. ``tried``
    is how far the fixed program was run: a fix that was not is a proposal, and not offered yet.
    """

    id: str
    title: str
    place: Place
    message: str
    why: str
    related: tuple[Place, ...] = ()
    fix: str = ""
    severity: Literal["sure", "hint"] = "sure"
    why_no_fix: str = field(default="", name="unmended")
    follows: str = ""
    """The id of the finding that this is a consequence of; empty if it stands for itself."""
    tried: Literal["no", "part", "whole"] = "no"


class FunctionCheck(Struct, frozen=True, array_like=True, gc=False):
    """A backward of a custom Function that central differences contradict, at one of its calls.

    ``op`` is the call's index, ``argument`` that of the input among forward's. Of the input's
    element with the largest difference, ``sent`` is what backward gives for the gradient that
    arrived in the run, ``expected`` what differences give. ``factor`` is sent / expected where all
    elements have the same, else None. ``ignores``: backward does not use the gradient that arrives.
    """

    op: int
    argument: int
    sent: float
    expected: float
    factor: float | None = None
    ignores: bool = False
    needs_product: bool = False
    """True if backward times the gradient that arrives is right."""


class NumberCut(Struct, frozen=True, array_like=True, gc=False):
    """Numbers that left torch and came back into a computation: no gradient follows them.

    ``value`` is the tensor they were taken from, ``way`` how (``item()``, ``float()``), at
    ``place``. They came back as the argument ``arg`` of the op with index ``op``, or as the new
    tensor ``leaf``.
    """

    value: int
    way: str
    place: Place
    op: int | None = None
    arg: int = 0
    leaf: int | None = None


class Formula(Struct, frozen=True, array_like=True, gc=False):
    """The entry of PyTorch's table of derivatives for one kind of backward node.

    ``operator`` is torch's (``mul.Tensor``), ``arguments`` the names in its schema, ``gradients``
    pairs of argument names and the formula of their gradient, verbatim.
    """

    node: str
    operator: str
    arguments: tuple[str, ...]
    gradients: tuple[tuple[tuple[str, ...], str], ...]


class WordList(Struct, frozen=True, array_like=True, gc=False):
    """A list of texts that the program has by this name at its end, such as tokens."""

    name: str
    words: tuple[str, ...]


CollectiveOwner = Literal["", "ddp", "fsdp"]


class Collective(Struct, frozen=True, array_like=True, gc=False):
    """One collective of torch.distributed, as seen by the rank of the tape.

    ``group`` are the ranks that take part, ``number`` counts the collectives of this group on this
    rank from 0: those of one number belong together. ``send`` and ``recv`` count by pairs of sender
    and receiver, which are their ``group``. ``root`` is the rank that has or gets the data.
    ``inputs`` and ``outputs`` are value ids, ``op`` the index of its op, None where it returned no
    tensor. ``run`` is the index of the backward pass around it.
    """

    kind: str
    group: tuple[int, ...]
    number: int
    place: Place
    op: int | None = None
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    reduce: str = ""
    root: int | None = None
    owner: CollectiveOwner = ""
    """Part of torch that called it for the program."""
    run: int | None = None
    is_done: bool = True
    """False if the program waited in it when it ended."""


class RankInfo(Struct, frozen=True):
    """The rank that a tape is of, among ``world`` ranks of one run, which share ``run``."""

    rank: int
    world: int
    run: str = ""
    backend: str = ""
    line: int = 0
    """Line at which the program was when it was ended from outside; 0 if it ended by itself."""


Status = Literal["ok", "error", "refused", "timeout", "died"]


class Tape(Struct, frozen=True):
    """Everything one run did. Lists refer to each other by index, values and nodes by id."""

    status: Status = "ok"
    error: Problem | None = None
    stdout: str = ""
    stderr: str = ""
    """Warnings, each with the line that caused it, and other text on standard error."""
    torch: str = ""
    device: str = "cpu"
    snapshots: tuple[Snapshot, ...] = ()
    values: tuple[Value, ...] = ()
    ops: tuple[Op, ...] = ()
    calls: tuple[Call, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    executions: tuple[Execution, ...] = ()
    accumulations: tuple[Accumulation, ...] = ()
    passes: tuple[Pass, ...] = ()
    steps: tuple[Step, ...] = ()
    resets: tuple[Reset, ...] = ()
    prints: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    formulas: tuple[Formula, ...] = ()  # torch's own for each kind of backward node among `nodes`
    dropped: int = 0  # values reduced to summaries to stay within the memory budget
    truncated: str = ""  # description of what the program did and the tape lacks
    held: tuple[tuple[int, ...], ...] = ()  # groups of parameters; see `Step.held`
    findings: tuple[Finding, ...] = ()
    figures: tuple[Figure, ...] = ()
    times: tuple[int, ...] = ()  # nanoseconds of each op's call, on a GPU of its launch
    fault: Op | None = None  # the call that raised the program's error; it has no outputs
    rewrites: tuple[Rewrite, ...] = ()
    writes: tuple[tuple[Change, ...], ...] = ()
    stuck: int | None = None  # the backward node that raised it, or the root of a failed backward
    function_checks: tuple[FunctionCheck, ...] = ()
    loops: tuple[tuple[int, int], ...] = ()  # first and last line of each loop of the program
    arms: tuple[
        tuple[tuple[int, int], ...], ...
    ] = ()  # and of what one ``if`` or ``match`` chooses
    step_loops: tuple[StepLoop, ...] = ()  # loops whose steps were recorded in part
    gaps: tuple[Gap, ...] = ()
    word_lists: tuple[WordList, ...] = ()
    number_cuts: tuple[NumberCut, ...] = ()
    left_out: tuple[int, int, int] = (0, 0, 0)
    """Ops, runs of backward nodes and events that were not sent, as nobody asked for them."""
    collectives: tuple[Collective, ...] = ()  # of a program that runs on several ranks
    rank: RankInfo | None = None
