"""A column against a row: two vectors of n elements broadcast to n × n without an error."""

import ast
import math
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.program_tree import called_name, receiver
from gradscribe.engine.doctor.snapshot_stats import shape
from gradscribe.engine.protocol.tape import Op, Value

_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())
_ELEMENTWISE = frozenset("sub rsub eq ne sub_".split())
_ON_PURPOSE = frozenset("unsqueeze getitem view reshape expand expand_as T mT".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield losses and differences of tensors that broadcast unintentionally."""
    for op in evidence.tape.ops:
        if op.phase != "forward" or len(op.inputs) < 2 or not op.outputs:
            continue
        if op.op not in _LOSSES and op.op not in _ELEMENTWISE and op.op != "mul":
            continue
        a, b = (evidence.values[i] for i in op.inputs[:2])
        if op.op in _LOSSES:
            is_sick = (
                a.shape != b.shape and a.shape and b.shape and math.prod(a.shape + b.shape) > 1
            )
        else:
            is_sick = _clash(a.shape, b.shape) and not _on_purpose(evidence, op)
            is_sick = is_sick and (op.op != "mul" or _weighs_targets(evidence, op, a, b))
        if is_sick:
            yield _case(evidence, op, a, b)


def _clash(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Return whether the shapes end in (n, 1) and (n,), with n > 1."""
    if len(a) == len(b):
        return False
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return long[-1] == 1 and long[:-1] == short and short[-1:] > (1,)


def _weighs_targets(evidence: Evidence, op: Op, a: Value, b: Value) -> bool:
    """Return whether a product is of predictions (n, 1) and targets (n,), as in a manual loss."""
    long, short = (a, b) if len(a.shape) > len(b.shape) else (b, a)
    is_loss = long.requires_grad and not long.is_leaf and not short.requires_grad
    return is_loss and op.outputs[0] in evidence.root_dependencies


def _on_purpose(evidence: Evidence, op: Op) -> bool:
    """Return whether the expression itself adds a dimension: ``x[:, None] - x``."""
    for value in op.inputs[:2]:
        made = evidence.creator(value)
        if made is not None and made.op in _ON_PURPOSE:
            inside = op.place.line <= made.place.line <= op.place.end_line
            if inside and made.place != op.place:
                return True
    left, right = (evidence.values[i] for i in op.inputs[:2])
    return left.storage == right.storage and left.storage >= 0


def _case(evidence: Evidence, op: Op, a: Value, b: Value) -> FoundCase:
    long, short = (a, b) if len(a.shape) >= len(b.shape) else (b, a)
    result = _broadcast(a.shape, b.shape)
    names = [f"{evidence.name(v.id, 'one side')} {shape(v.shape)}" for v in (a, b)]
    made = f"{op.op} stretches both to {shape(result)}" if result else f"{op.op} broadcasts"
    elements = max(math.prod(a.shape), math.prod(b.shape))
    message = (
        f"{names[0]} meets {names[1]}: {made}, "
        f"{math.prod(result)} pairs instead of {elements} differences"
    )
    related = tuple(evidence.place_of(v.id) for v in (a, b))
    return FoundCase(op.place, message, related, _fix(evidence, op, long, short))


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    size = max(len(a), len(b))
    left, right = (1,) * (size - len(a)) + a, (1,) * (size - len(b)) + b
    return tuple(max(x, y) for x, y in zip(left, right, strict=True))


def _fix(evidence: Evidence, op: Op, long: Value, short: Value) -> str:
    """Squeeze the extra dimension of the operand."""
    if long.shape[-1:] != (1,) or long.shape[:-1] != short.shape:
        return ""
    program = evidence.program
    for node in program.nodes:
        if not isinstance(node, ast.Call | ast.BinOp | ast.Compare):
            continue
        if program.place(node) != op.place:
            continue
        sides = _sides(node)
        at = 0 if op.inputs[0] == long.id else 1
        if op.op == "rsub":
            at = 1 - at
        if len(sides) > at and not isinstance(sides[at], ast.Starred):
            text = program.source(sides[at])
            simple = isinstance(sides[at], ast.Name | ast.Call | ast.Attribute | ast.Subscript)
            return program.replaced(
                (sides[at], f"{text}.squeeze(-1)" if simple else f"({text}).squeeze(-1)")
            )
    return ""


def _sides(node: ast.Call | ast.BinOp | ast.Compare) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    sides = [*node.args, *(k.value for k in node.keywords if k.arg in ("input", "target"))]
    owner = receiver(node)
    is_method = owner is not None and called_name(node) in ("sub", "eq", "ne", "sub_")
    if is_method and owner is not None and ast.unparse(owner) != "torch":
        sides.insert(0, owner)
    return sides


ENTRY = FindingKind(
    "silent-broadcast",
    "A column meets a row",
    "Nothing fails, but every prediction is compared with every target. The loss and its gradients "
    "pull all predictions towards the mean of the targets.",
    detect,
    setup_fix=SetupFix(mistake="column_target"),
    sick=(
        """a = torch.randn(5, 1, requires_grad=True)
b = torch.randn(5)
acc = (a.round() == b).float().mean()  # !
""",
    ),
    healthy=(
        """# distances of all pairs
torch.manual_seed(0)
x = torch.randn(6, requires_grad=True)
gaps = x[:, None] - x[None, :]
other = x.unsqueeze(1) - x
energy = (gaps**2).sum() + (other**2).mean()
energy.backward()
""",
        """# a row bias, a column scale, normalised columns
torch.manual_seed(0)
x = torch.randn(5, 3)
x = (x - x.mean(dim=0)) / x.std(dim=0)
bias = param([0.1, 0.2, 0.3])
scale = torch.rand(5, 1)
w = param([1.0, -1.0, 0.5])
out = (x * scale + bias) * w
loss = (out - out.mean(dim=1, keepdim=True)).pow(2).mean()
loss.backward()
""",
    ),
)
