"""A target whose dtype, shape or range does not fit its loss."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import fixes
from gradscribe.engine.doctor.errors import matching_error, value_of_expression
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import shape
from gradscribe.engine.protocol.tape import Value

_PATTERNS = (
    "expected scalar type Long",
    "expected target dtype",
    r"0D or 1D target tensor expected",
    r"Target -?\d+ is out of bounds",
    "only batches of spatial targets supported",
    r"Expected input batch_size \(\d+\) to match target batch_size",
    "Expected floating point type for target with class probabilities",
    r"[Tt]arget size \(.*\) (must be the same as|that is different to the) input size",
    "Found dtype (Long|Int|Short|Byte|Bool) but expected",
    "all elements of target should be between 0 and 1",
    "result type Float can't be cast to the desired output type Long",
    r"not implemented for '(Long|Int)'",
)


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the failing loss, and binary losses of targets that are no probabilities."""
    yield from _failing(evidence)
    yield from _beyond(evidence)


def _failing(evidence: Evidence) -> Iterator[FoundCase]:
    error = matching_error(evidence, *_PATTERNS)
    if error is None:
        return
    program, line = evidence.program, error.place.line
    call = _loss(evidence, line)
    if call is None and "target" not in error.message.lower():
        return
    target = fixes.argument_of(call, 1, "target") if call is not None else None
    given = fixes.argument_of(call, 0, "input") if call is not None else None
    value = value_of_expression(evidence, target) if target is not None else None
    source = value_of_expression(evidence, given) if given is not None else None
    parts = [
        f"{program.source(node)} is {shape(v.shape)} {v.dtype}"
        for node, v in ((given, source), (target, value))
        if node is not None and v is not None
    ]
    message = f"{', '.join(parts)}: {error.message}" if parts else error.message
    fix = ""
    if target is not None and value is not None:
        change = _change(error.message, value, source) or _from_zero(evidence, value, source)
        if "between 0 and 1" in error.message:
            fix = _as_probabilities(evidence, value, target)
        elif change:
            text = program.source(target)
            closed = (
                text if isinstance(target, ast.Name | ast.Call | ast.Attribute) else f"({text})"
            )
            fix = program.replaced((target, closed + change))
    related = (evidence.place_of(value.id),) if value is not None else ()
    yield FoundCase(program.line(line), message, related, fix, _why_no_fix(error.message, source))


def _beyond(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield losses of raw scores whose targets leave the range of probabilities."""
    for op in evidence.tape.ops:
        if op.op != "binary_cross_entropy_with_logits" or len(op.inputs) < 2:
            continue
        value = evidence.values[op.inputs[1]]
        snapshot = evidence.snapshot(value.id)
        if snapshot is None:
            continue
        numbers = snapshot.array()
        low = float(numbers.min()) if numbers is not None and numbers.size else snapshot.min
        high = float(numbers.max()) if numbers is not None and numbers.size else snapshot.max
        if low is None or high is None or not (low < 0 or high > 1):
            continue
        call = _call_on(evidence, op.place.line)
        target = fixes.argument_of(call, 1, "target") if call is not None else None
        fix = _as_probabilities(evidence, value, target) if target is not None else ""
        message = (
            f"{value.name or 'The target'} on line {op.place.line} lies between {low:.4g} and "
            f"{high:.4g}, and {op.op} takes probabilities from 0 to 1: the loss has no lower bound"
        )
        yield FoundCase(op.place, message, (evidence.place_of(value.id),), fix, _NO_RANGE)


_NO_RANGE = "Only you know which of these numbers stand for yes"


def _as_probabilities(evidence: Evidence, value: Value, target: ast.expr) -> str:
    """Return the program with targets of two numbers mapped to 0 and 1; else an empty text."""
    snapshot = evidence.snapshot(value.id)
    numbers = snapshot.array() if snapshot is not None else None
    if numbers is None or not numbers.size:
        return ""
    found, text = set(numbers.ravel().tolist()), fixes.parenthesized(evidence.program, target)
    if found <= {-1, 1}:
        return evidence.program.replaced((target, f"({text} + 1) / 2"))
    if found == {1, 2}:
        return evidence.program.replaced((target, f"{text} - 1"))
    return ""


def _loss(evidence: Evidence, line: int) -> ast.Call | None:
    """Return the call of a loss on a line, or else of the last pass's root."""
    found = _call_on(evidence, line)
    if found is None and evidence.tape.passes:
        root = evidence.tape.passes[-1].roots[:1]
        if root and root[0] is not None:
            return _call_on(evidence, evidence.place_of(root[0]).line)
    return found


def _call_on(evidence: Evidence, line: int) -> ast.Call | None:
    statement = evidence.program.statement(line)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) >= 2:
            name = ast.unparse(node.func).lower()
            if any(word in name for word in ("loss", "criterion", "entropy", "bce", "crit")):
                return node
    return None


def _change(message: str, target: Value, source: Value | None) -> str:
    """Return the method calls that make the target fit."""
    if "class probabilities" in message:
        return ".float()"
    if "Long" in message and "Found dtype" not in message and "cast" not in message:
        return ".long()"
    if "Found dtype" in message or "cast to" in message or "not implemented" in message:
        return ".float()"
    if "0D or 1D" in message or "spatial" in message:
        if target.shape[-1:] != (1,):
            return ".argmax(1)"
        return ".squeeze(-1)" + (".long()" if target.dtype.startswith("float") else "")
    if "arget size" in message and source is not None:
        if (*target.shape, 1) == source.shape:
            return ".unsqueeze(-1)" + ("" if target.dtype.startswith("float") else ".float()")
        if target.shape == (*source.shape, 1):
            return ".squeeze(-1)"
    return ""


def _why_no_fix(message: str, source: Value | None) -> str:
    if "out of bounds" in message and source is not None and source.shape[1:] == (1,):
        return (
            "One score per row is a yes or no: take binary_cross_entropy_with_logits with a real "
            "target of the same shape, or give the last layer as many outputs as there are classes"
        )
    if "out of bounds" in message:
        return "Either a class number is wrong or the last layer has too few outputs"
    if "batch_size" in message:
        return "Only you know which rows of scores and targets belong together"
    return ""


def _from_zero(evidence: Evidence, target: Value, source: Value | None) -> str:
    """Return `` - 1`` for class indices from 1 to C instead of 0 to C - 1."""
    snapshot = evidence.snapshot(target.id)
    numbers = snapshot.array() if snapshot is not None else None
    if numbers is None or not numbers.size or source is None or len(source.shape) < 2:
        return ""
    return " - 1" if numbers.min() == 1 and numbers.max() == source.shape[1] else ""


ENTRY = FindingKind(
    "wrong-target",
    "The target does not fit the loss",
    "cross_entropy takes class numbers (int64, one per row, from 0 to C − 1) or probabilities of "
    "the scores' shape; MSE and BCE take real numbers of exactly the prediction's shape.",
    detect,
    sick=(
        """scores = torch.randn(4, 3, requires_grad=True)
target = torch.tensor([0.0, 1.0, 2.0, 1.0])
loss = F.cross_entropy(scores, target)  # !
""",
        """# signs as targets of a binary loss
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(50, 2)
y = torch.sign(x[:, :1] - 0.3)
for step in range(5):
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(net(x), y)  # !
    loss.backward()
    opt.step()
""",
        """# signs of a layer without logits
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
x = torch.randn(50, 2)
criterion = nn.BCELoss()
loss = criterion(net(x), torch.sign(x[:, :1]))  # !
loss.backward()
""",
        """# classes 1 and 2 of a layer
torch.manual_seed(0)
net = nn.Linear(2, 1)
x, labels = torch.randn(6, 2), torch.tensor([1.0, 2.0, 2.0, 1.0, 1.0, 2.0])
criterion = nn.BCEWithLogitsLoss()
loss = criterion(net(x).squeeze(1), labels)  # !
loss.backward()
""",
    ),
    healthy=(
        """# classes, probabilities, and real numbers
torch.manual_seed(0)
scores = torch.randn(4, 3, requires_grad=True)
a = F.cross_entropy(scores, torch.tensor([0, 2, 1, 1]))
b = F.cross_entropy(scores, torch.full((4, 3), 1 / 3))
c = F.binary_cross_entropy_with_logits(scores[:, 0], torch.tensor([0.0, 1.0, 1.0, 0.0]))
(a + b + c).backward()
""",
        """# per-pixel classes
torch.manual_seed(0)
net = nn.Conv2d(1, 3, 3, padding=1)
images, masks = torch.randn(2, 1, 5, 5), torch.randint(0, 3, (2, 5, 5))
loss = nn.CrossEntropyLoss()(net(images), masks)
loss.backward()
""",
    ),
)
