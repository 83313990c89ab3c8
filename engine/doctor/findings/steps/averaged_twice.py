"""A mean loss that is divided by the number of examples once more."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import called_name
from gradscribe.engine.protocol.tape import Op

_MEANS = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy cross_entropy_loss nll_loss "
    "binary_cross_entropy binary_cross_entropy_with_logits".split()
)


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield divisions of a mean over examples by their number, on the path to a root."""
    for op in evidence.tape.ops:
        if op.op not in ("div", "true_divide", "__truediv__") or not op.inputs or not op.outputs:
            continue
        if op.outputs[0] not in evidence.root_dependencies:
            continue
        numbers = [a.number for a in op.args if a.number is not None]
        mean = evidence.creator(op.inputs[0])
        count = _averaged(evidence, mean) if mean is not None else 0
        node = _division(evidence, op)
        if mean is None or node is None or count < 2 or numbers[:1] != [float(count)]:
            continue
        message = (
            f"{mean.op} on line {mean.place.line} is a mean over {count} examples already; divided "
            f"by {count} again, the loss and all gradients are {count} times too small"
        )
        fix = evidence.program.replaced((node, evidence.program.source(node.left)))
        yield FoundCase(op.place, message, (mean.place,), fix)


def _averaged(evidence: Evidence, op: Op) -> int:
    """Return the number of rows that a mean is taken of; 0 if the op is no mean over rows."""
    if not op.inputs or not op.outputs or evidence.values[op.outputs[0]].shape != ():
        return 0
    shape = evidence.values[op.inputs[0]].shape
    plain = op.op == "mean" and not any(a.text or a.number is not None for a in op.args)
    reduced = [a.text.strip("'\"") for a in op.args if a.keyword == "reduction"]
    if not plain and (op.op not in _MEANS or any(value != "mean" for value in reduced)):
        return 0
    return shape[0] if shape else 0


def _division(evidence: Evidence, op: Op) -> ast.BinOp | None:
    """Return the division at an op's place if it divides by a number of examples."""
    program = evidence.program
    for node in program.find(ast.BinOp, op.place):
        if isinstance(node.op, ast.Div) and _counts(evidence, node.right, node.lineno):
            return node
    return None


def _counts(evidence: Evidence, node: ast.expr, line: int) -> bool:
    """Return whether an expression is a number of examples: ``len(x)``, ``batch_size``."""
    if isinstance(node, ast.Call):
        if called_name(node) == "len" and len(node.args) == 1:
            # The length of a list of batches is no number of examples, even if equal.
            return evidence.latest(ast.unparse(node.args[0])) is not None
        return called_name(node) == "size" and len(node.args) == 1
    if isinstance(node, ast.Subscript):
        return ast.unparse(node).endswith(".shape[0]")
    if not isinstance(node, ast.Name):
        return False
    bound = evidence.program.last_binding(node.id, line)
    if "batch" in node.id.lower() and not node.id.lower().endswith("es"):
        return True
    return bound is not None and not isinstance(bound, ast.Name) and _counts(evidence, bound, line)


ENTRY = FindingKind(
    "averaged-twice",
    "Averaged twice",
    "torch's losses are means over the batch unless told otherwise. Dividing by the batch size "
    "once more makes every gradient that much smaller, and the step depend on the batch size.",
    detect,
    severity="hint",
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
n = x.shape[0]
w = torch.zeros(3, 1, requires_grad=True)
loss = ((x @ w - y) ** 2).mean() / n  # !
loss.backward()
""",
    ),
    healthy=(
        """# accumulated over micro-batches
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
batches = [(x[i : i + 2], y[i : i + 2]) for i in range(0, 8, 2)]
for xb, yb in batches:
    (F.mse_loss(net(xb), yb) / len(batches)).backward()
opt.step()
""",
        """# a sum is divided
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
(F.mse_loss(net(x), y, reduction="sum") / len(x)).backward()
""",
    ),
)
