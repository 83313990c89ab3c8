"""A softmax over another dimension than that of the following sum or loss."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import argument_of, call_at
from gradscribe.engine.doctor.program_tree import ProgramTree, receiver
from gradscribe.engine.protocol.tape import Op, Place

_MAKERS = ("softmax", "log_softmax")
_LAYERS = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}
_HANDS_ON = frozenset("dropout feature_dropout clone contiguous to float log identity".split())
"""Ops that keep the position of each element."""
_PRODUCTS = frozenset("matmul bmm __matmul__ mm".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield softmaxes over another dimension than the loss or product after them."""
    seen = set[Place]()
    for op in evidence.tape.ops:
        if op.phase != "forward" or not op.inputs:
            continue
        if op.op in ("cross_entropy", "cross_entropy_loss"):
            yield from _one_class(evidence, op)
        if op.op != "nll_loss" and op.op not in _PRODUCTS:
            continue
        maker = _maker(evidence, op.inputs[0])
        if maker is None or maker.place in seen:
            continue
        shape = evidence.values[maker.outputs[0]].shape
        dim = _dim(maker, len(shape))
        wanted = len(shape) - 1 if op.op in _PRODUCTS else min(1, len(shape) - 1)
        if dim is None or dim == wanted or len(shape) < 2 or shape[wanted] < 2:
            continue
        if op.op in _PRODUCTS and not _attends(evidence, maker):
            continue
        seen.add(maker.place)
        yield FoundCase(
            maker.place if maker.place.line else op.place,
            _message(evidence, maker, op, dim, wanted),
            (op.place,),
            _fix(evidence.program, maker, wanted - len(shape) if op.op in _PRODUCTS else wanted),
        )


def _maker(evidence: Evidence, value: int) -> Op | None:
    """Return the softmax that a value is the result of, looking through `_HANDS_ON`."""
    for _ in range(10):
        op = evidence.creator(value)
        if op is None or op.op in _MAKERS or op.op not in _HANDS_ON or not op.inputs:
            return op if op is not None and op.op in _MAKERS else None
        value = op.inputs[0]
    return None


def _dim(op: Op, ndim: int) -> int | None:
    """Return the dimension of a softmax, from 0; torch's default if there is no argument."""
    rest = [a for a in op.args if a.value is None]
    named = [a for a in rest if a.keyword == "dim"]
    given = next(iter(named or [a for a in rest if not a.keyword]), None)
    if given is None or given.text == "None":
        return 0 if ndim in (0, 1, 3) else 1
    return int(given.number) % ndim if given.number is not None and ndim else None


def _attends(evidence: Evidence, maker: Op) -> bool:
    """Return whether the scores are a product of two computed tensors, as in attention."""
    value = maker.inputs[0]
    for _ in range(10):
        op = evidence.creator(value)
        if op is None or not op.inputs:
            return False
        if op.op in _PRODUCTS or op.op == "einsum":
            sources = [
                evidence.values[evidence.before_pass_through(source)] for source in op.inputs
            ]
            return not any(source.is_leaf and source.requires_grad for source in sources)
        value = op.inputs[0]
    return False


def _message(evidence: Evidence, maker: Op, op: Op, dim: int, wanted: int) -> str:
    shape = evidence.values[maker.outputs[0]].shape
    takes = "sums over" if op.op in _PRODUCTS else "takes the classes from"
    text = (
        f"{maker.op} runs over dimension {dim} of {shape}, and {op.op} on line {op.place.line} "
        f"{takes} dimension {wanted}"
    )
    snapshot = evidence.snapshot(maker.outputs[0])
    array = snapshot.array() if snapshot is not None else None
    if array is None or array.dtype.kind != "f":
        return text
    numbers = array.astype("f8")
    sums = (2.718281828459045**numbers if maker.op == "log_softmax" else numbers).sum(wanted)
    return f"{text}: there the probabilities add up to {sums.min():.3g} to {sums.max():.3g}, not 1"


def _one_class(evidence: Evidence, op: Op) -> Iterator[FoundCase]:
    """Yield a cross-entropy of scores for a single class."""
    shape = evidence.values[op.inputs[0]].shape
    if len(shape) < 2 or shape[1] != 1:
        return
    message = (
        f"cross_entropy gets scores {shape} for one class: its softmax is always 1, so the loss "
        "is 0 and so are all gradients"
    )
    why_no_fix = (
        "For two classes the model needs two scores; with one score use "
        "binary_cross_entropy_with_logits"
    )
    yield FoundCase(op.place, message, (evidence.place_of(op.inputs[0]),), "", why_no_fix)


def _fix(program: ProgramTree, maker: Op, wanted: int) -> str:
    """Write the right dimension into the call, or into its layer if there is only one."""
    layer = maker.call is not None and maker.op not in program.lines[maker.place.line - 1]
    layers = program.calls(_LAYERS[maker.op])
    call = (
        (layers[0] if len(layers) == 1 else None)
        if layer
        else call_at(program, maker.place, maker.op)
    )
    if call is None:
        return ""
    owner = receiver(call)
    free = layer or (owner is not None and ast.unparse(owner) not in _MODULES)
    dim = argument_of(call, 0 if free else 1, "dim")
    if dim is not None:
        return program.replaced((dim, str(wanted)))
    text = program.source(call)
    comma = ", " if call.args or call.keywords else ""
    return program.replaced((call, f"{text[:-1]}{comma}dim={wanted})"))


_MODULES = ("torch", "F", "nn.functional", "torch.nn.functional", "torch.special")

ENTRY = FindingKind(
    "softmax-over-wrong-dim",
    "Softmax over the wrong dimension",
    "Softmax makes the numbers along one dimension add up to 1. Along the wrong one, what should "
    "be separate shares one probability: the examples of a batch, or the queries of an attention. "
    "Nothing fails, and the model learns something else.",
    detect,
    sick=(
        """torch.manual_seed(0)
net = nn.Linear(5, 1)
loss = F.cross_entropy(net(torch.randn(8, 5)), torch.zeros(8, dtype=torch.long))  # !
loss.backward()
""",
    ),
    healthy=(
        """torch.manual_seed(0)
net = nn.Conv2d(3, 4, 1)
loss = F.nll_loss(F.log_softmax(net(torch.randn(2, 3, 5, 5)), 1), torch.randint(0, 4, (2, 5, 5)))
loss.backward()
""",
        """# of one row
torch.manual_seed(0)
scores = nn.Linear(5, 3)(torch.randn(5))
F.nll_loss(F.log_softmax(scores, 0), torch.tensor(1)).backward()
""",
    ),
)
