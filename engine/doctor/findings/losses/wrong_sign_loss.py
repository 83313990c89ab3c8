"""Training that goes uphill: a wrong sign of the loss or of the update."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import format_number
from gradscribe.engine.protocol.tape import Op

_LOSSES = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits kl_div hinge_embedding_loss".split()
)
_ERRORS = frozenset("pow square abs".split())
_AVERAGES = frozenset("mean sum div mul".split())
_NAMES = ("loss", "error", "cost", "mse", "nll", "objective_to_minimise")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield negated losses that are minimised, and manual updates that go uphill."""
    yield from _negated(evidence)
    yield from _likelihoods(evidence)
    yield from _uphill(evidence)


def _negated(evidence: Evidence) -> Iterator[FoundCase]:
    seen = set[int]()
    if any(k.arg == "maximize" for c in evidence.program.find(ast.Call) for k in c.keywords):
        return
    for root in evidence.roots:
        op = evidence.creator(root)
        if op is None or not _negates(op) or op.place.line in seen or not _trains(evidence, root):
            continue
        source = evidence.creator(op.inputs[0])
        if source is None or not _is_error(evidence, source):
            continue
        seen.add(op.place.line)
        numbers = [s for r in evidence.roots if (s := evidence.snapshot(r)) is not None]
        items = [x for s in numbers if isinstance(x := s.item(), float)]
        went = (
            f" from {format_number(items[0])} to {format_number(items[-1])}"
            if len(items) > 1
            else ""
        )
        message = (
            f"The root is minus {source.op}: each step makes the error larger. It went{went}"
            if went
            else f"The root is minus {source.op}: each step makes the error larger"
        )
        yield FoundCase(op.place, message, (source.place,), _without_minus(evidence, op))


def _likelihoods(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield mean log-probabilities that are minimised without a minus."""
    for curve in training.loss_curves(evidence):
        root = evidence.tape.passes[curve.passes[0]].roots[0]
        first = evidence.creator(root) if root is not None else None
        if root is None or first is None or not _trains(evidence, root):
            continue
        if not curve.losses[-1] < curve.losses[0] < 0:
            continue
        op: Op | None = first
        while op is not None and op.op in _PICKS and op.inputs:
            op = evidence.creator(op.inputs[0])
        by_name = "log_prob" in evidence.program.lines[first.place.line - 1]
        if op is None:
            continue
        is_likelihood = (by_name or op.op == "log_softmax") and op is not first
        if is_likelihood or (op.op in ("add", "mul") and _is_likelihood(evidence, op)):
            message = (
                f"The root is a mean of log-probabilities, and steps make it smaller: it went "
                f"from {format_number(curve.losses[0])} to {format_number(curve.losses[-1])}"
            )
            yield FoundCase(first.place, message, (op.place,), _with_minus(evidence, first))


def _is_likelihood(evidence: Evidence, op: Op | None, depth: int = 6) -> bool:
    """Return whether an op adds targets times logarithms: ``y * log(p) + ...``."""
    if op is None or not depth:
        return False
    makers = [evidence.creator(value) for value in op.inputs]
    if op.op == "add":
        return len(makers) == 2 and all(_is_likelihood(evidence, m, depth - 1) for m in makers)
    if op.op == "mul":
        learned = [evidence.values[value].requires_grad for value in op.inputs]
        logs = [m for m, known in zip(makers, learned, strict=True) if known]
        return len(logs) == 1 and len(makers) == 2 and _is_likelihood(evidence, logs[0], depth - 1)
    return op.op in ("log", "log_softmax", "logsigmoid", "log1p")


_PICKS = frozenset("mean sum getitem gather squeeze view reshape flatten diagonal div".split())


def _with_minus(evidence: Evidence, op: Op) -> str:
    program = evidence.program
    node = next(program.find(ast.Call, op.place), None)
    return "" if node is None else program.replaced((node, f"-{program.source(node)}"))


def _negates(op: Op) -> bool:
    """Return whether an op only negates its input."""
    if op.op == "neg":
        return True
    numbers = [a.number for a in op.args if a.number is not None]
    return (op.op in ("mul", "div") and numbers[:1] == [-1.0]) or (
        op.op == "rsub" and numbers[:1] == [0.0]
    )


def _is_error(evidence: Evidence, op: Op) -> bool:
    """Return whether an op measures an error: a torch loss, or a mean of squares or magnitudes."""
    if op.op in _LOSSES:
        return True
    for _ in range(4):
        if op.op in _ERRORS:
            inner = evidence.creator(op.inputs[0])
            return inner is not None and inner.op in ("sub", "rsub")
        if op.op not in _AVERAGES or not op.inputs:
            return False
        below = evidence.creator(op.inputs[0])
        if below is None:
            return False
        if op.op == "mul" and op.inputs[:1] == op.inputs[1:2]:
            return below.op in ("sub", "rsub")
        op = below
    return False


def _trains(evidence: Evidence, root: int) -> bool:
    """Return whether a root's passes update a model rather than an input."""
    behind = {evidence.values[v].tensor for v in evidence.dependencies([root])}
    leaves = [(t, leaf) for t, leaf in evidence.leaves.items() if t in behind]
    moved = [t for t, _ in leaves if t in evidence.updated]
    if not moved:
        return False
    still = [t for t, leaf in leaves if t not in evidence.updated and "." in leaf.name]
    still += [
        v.tensor
        for v in map(evidence.values.__getitem__, evidence.dependencies([root]))
        if v.is_leaf and not v.requires_grad and v.op is None and "." in v.name
    ]
    return any("." in evidence.leaves[t].name for t in moved) or not still


def _without_minus(evidence: Evidence, op: Op) -> str:
    program = evidence.program
    for node in program.nodes:
        if isinstance(node, ast.UnaryOp | ast.BinOp) and program.place(node) == op.place:
            if isinstance(node, ast.UnaryOp):
                return program.replaced((node, program.source(node.operand)))
            # A minus binds tighter than * and /, so -x * y is a BinOp.
            text = program.source(node)
            if text.endswith("* -1"):
                return program.replaced((node, text.removesuffix("* -1").rstrip()))
            if text.startswith("-1 * "):
                return program.replaced((node, text.removeprefix("-1 * ")))
    return ""


def _uphill(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield ``w += lr * w.grad`` and ``w.add_(lr * w.grad)`` where the loss rose."""
    program = evidence.program
    for node in program.nodes:
        target = _raised(node)
        if not target or not isinstance(node, ast.AugAssign | ast.Call):
            continue
        for curve in training.loss_curves(evidence):
            root = evidence.tape.passes[curve.passes[0]].roots[0]
            name = evidence.name(root, "").lower() if root is not None else ""
            if curve.losses[-1] > curve.losses[0] and any(word in name for word in _NAMES):
                rose = f"{format_number(curve.losses[0])} to {format_number(curve.losses[-1])}"
                message = f"{target} moves along its gradient, uphill: {name} rose from {rose}"
                signs = ("+=", "-=") if isinstance(node, ast.AugAssign) else (".add_(", ".sub_(")
                fix = program.replaced((node, program.source(node).replace(*signs, 1)))
                yield FoundCase(program.place(node), message, (program.line(curve.line),), fix)
                break


def _raised(node: ast.AST) -> str:
    """Return the variable to which a multiple of its own gradient is added; else empty."""
    owner: ast.expr
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        owner, text = node.target, ast.unparse(node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner, text = (
            node.func.value,
            ", ".join(ast.unparse(x) for x in [*node.args, *node.keywords]),
        )
        if node.func.attr != "add_":
            return ""
    else:
        return ""
    target = ast.unparse(owner).removesuffix(".data")
    is_plain = f"{target}.grad" in text and "-" not in text and ".sign()" not in text
    return target if is_plain else ""


ENTRY = FindingKind(
    "wrong-sign-loss",
    "Training goes uphill",
    "Optimizers go down. Minus an error is lowest where the error is largest, so the model gets "
    "worse with every step and the loss falls without end.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(32, 3)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    loss = -F.mse_loss(model(x), y)  # !
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# likelihood maximised, a reward maximised
torch.manual_seed(0)
mu, sigma = param(0.0), param(1.0)
data = torch.randn(50) * 2 + 3
opt = optim.Adam([mu, sigma], lr=0.05)
for step in range(10):
    loss = -torch.distributions.Normal(mu, sigma.exp()).log_prob(data).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a generator that hides
torch.manual_seed(0)
maker, judge = nn.Linear(2, 3), nn.Linear(3, 1).requires_grad_(False)
opt = optim.SGD(maker.parameters(), lr=0.1)
noise = torch.randn(8, 2)
for step in range(4):
    opt.zero_grad()
    loss = torch.log(1 - torch.sigmoid(judge(maker(noise)))).mean()
    loss.backward()
    opt.step()
""",
    ),
)
