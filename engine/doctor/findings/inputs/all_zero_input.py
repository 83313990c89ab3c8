"""Inputs that are all zero: divided with //, cut to whole numbers, or never filled."""

import ast
import re
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import call_at, parenthesized
from gradscribe.engine.doctor.snapshot_stats import format_number, is_zero
from gradscribe.engine.protocol.tape import Op, Place, Snapshot, Value

_FLOORS = ("floordiv", "floor_divide", "floor_divide_")
_DIVISIONS = frozenset((*_FLOORS, "div", "div_", "divide"))
_CASTS = frozenset("long int short byte char to type floor trunc".split())
_ALONG = frozenset(
    "float double half to type view reshape flatten squeeze unsqueeze permute transpose "
    "contiguous clone getitem stack cat mul div sub add neg expand movedim T".split()
)
_LAYERS = frozenset("linear conv1d conv2d conv3d matmul mm addmm lstm gru rnn_tanh".split())
_MOSTLY, _CALLS = 0.9, 3


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield ops that make zeros of a layer's inputs, and inputs that were zeros from the start."""
    places: dict[Place, list[Op]] = {}
    for op in evidence.tape.ops:
        if op.op in _DIVISIONS | _CASTS and op.outputs and op.inputs:
            places.setdefault(op.place, []).append(op)
    for ops in places.values():
        shares = [_rounded(evidence, op) for op in ops]
        if min(shares) > 0 and _enters_layer(evidence, ops[0].outputs[0]):
            yield _case(evidence, ops[0], shares)
    yield from _never_filled(evidence)


def _case(evidence: Evidence, op: Op, shares: list[float]) -> FoundCase:
    share = sum(shares) / len(shares)
    how = "all numbers" if share == 1 else f"{share:.1%} of the numbers"
    before = evidence.snapshot(op.inputs[0])
    largest = _largest(before) if before is not None else None
    between = f", of which the largest is {format_number(largest)}," if largest is not None else ""
    name = "//" if op.op == "floordiv" else op.op
    message = f"{name} makes {how} of {evidence.name(op.inputs[0], 'the inputs')}{between} zero"
    return FoundCase(op.place, message, (), _fix(evidence, op), is_hint=share < 1)


def _rounded(evidence: Evidence, op: Op) -> float:
    """Return the share of numbers that became zero: all, or of a quotient nearly all; else 0."""
    value, divides = evidence.values[op.outputs[0]], op.op in _DIVISIONS
    if value.requires_grad or (divides and not _is_whole(op)):
        return 0.0
    before, after = evidence.snapshot(op.inputs[0]), evidence.snapshot(value.id)
    if before is None or after is None or not before.numel or _share_of_zeros(before) > 0.5:
        return 0.0
    share = _share_of_zeros(after)
    if share < 1 and not (divides and share >= _MOSTLY and _divides_by_largest(op, before)):
        return 0.0
    return share


def _is_whole(op: Op) -> bool:
    """Return whether a division rounds to whole numbers."""
    rounded = any(a.keyword == "rounding_mode" and a.text != "None" for a in op.args)
    return op.op in _FLOORS or rounded


def _share_of_zeros(snapshot: Snapshot) -> float:
    array = snapshot.array()
    if array is None or not array.size:
        return 1.0 if snapshot.norm == 0 else 0.0
    return float((array == 0).mean())


def _largest(snapshot: Snapshot) -> float | None:
    array = snapshot.array()
    return float(array.max()) if array is not None else snapshot.max


def _divides_by_largest(op: Op, before: Snapshot) -> bool:
    divisor, largest = (
        next((a.number for a in op.args if a.number is not None), None),
        _largest(before),
    )
    return divisor is not None and largest is not None and divisor >= largest


def _enters_layer(evidence: Evidence, value: int) -> bool:
    """Return whether data goes into a trained layer, as its input, on the way to a root."""
    left, seen = [value], set[int]()
    while left and len(seen) < 200:
        number = left.pop()
        for index in evidence.users.get(number, ()):
            op = evidence.tape.ops[index]
            if not op.outputs or op.outputs[0] in seen:
                continue
            seen.add(op.outputs[0])
            if op.op in _LAYERS:
                others = [evidence.values[v] for v in op.inputs if v != number]
                trained = any(v.tensor in evidence.updated or v.requires_grad for v in others)
                if trained and op.outputs[0] in evidence.root_dependencies:
                    return True
            elif op.op in _ALONG and not evidence.values[op.outputs[0]].requires_grad:
                left.append(op.outputs[0])
    return False


def _fix(evidence: Evidence, op: Op) -> str:
    """Divide with / and cast to float."""
    program = evidence.program
    if op.op in _FLOORS:
        for node in program.find(ast.BinOp, op.place):
            if isinstance(node.op, ast.FloorDiv):
                sides = parenthesized(program, node.left), parenthesized(program, node.right)
                return program.replaced((node, " / ".join(sides)))
        return ""
    call = call_at(program, op.place, op.op)
    if call is None or call.args or not isinstance(call.func, ast.Attribute):
        return ""
    return program.replaced((call, f"{parenthesized(program, call.func.value)}.float()"))


def _never_filled(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield tensors made of zeros that were the only inputs of a trained layer."""
    inputs: dict[int, list[Value]] = {}
    for op in evidence.tape.ops:
        if op.op not in _LAYERS or op.phase != "forward" or len(op.inputs) < 2:
            continue
        if op.outputs[0] not in evidence.root_dependencies:
            continue
        weight = evidence.values[op.inputs[1]].tensor
        if weight in evidence.updated:
            inputs.setdefault(weight, []).append(evidence.values[op.inputs[0]])
    for weight, values in inputs.items():
        source = evidence.values[evidence.before_pass_through(values[0].id)]
        if len(values) < _CALLS or source.op is not None or _STATES.fullmatch(source.name):
            continue
        if not all(_is_zero_data(evidence, v) for v in values) or _is_sent(evidence, weight):
            continue
        made = f", made by {source.maker}," if source.maker else ""
        layer = evidence.leaves[weight].name if weight in evidence.leaves else "the layer"
        message = (
            f"{source.name or 'The input'}{made} is zero throughout: "
            f"{len(values)} times {layer} was multiplied by zeros, and its gradient is zero"
        )
        yield FoundCase(source.place, message, (), is_hint=True)


_STATES = re.compile(
    "[hcz]|[hc]x|[hc]_?[0-9t]|(hidden|state|prev|init|start|memory|dummy|zero|sos|bos|noise).*"
)
"""Names of states and the like, which may be zero on purpose."""


def _is_zero_data(evidence: Evidence, value: Value) -> bool:
    snapshot = evidence.snapshot(value.id)
    return not value.requires_grad and snapshot is not None and is_zero(snapshot)


def _is_sent(evidence: Evidence, tensor: int) -> bool:
    """Return whether a gradient other than zero was sent to a leaf."""
    rows = (r for r in evidence.tape.accumulations if evidence.values[r.leaf].tensor == tensor)
    sent = [evidence.tape.snapshots[row.sent] for row in rows if row.sent is not None]
    return not sent or not all(map(is_zero, sent))


_NET = """net = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 2))
opt = optim.Adam(net.parameters(), lr=0.01)
for step in range(4):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
"""
_PIXELS = """torch.manual_seed(0)
pixels = torch.randint(0, 255, (32, 16), dtype=torch.uint8)
y = (pixels.float().mean(1) > 127).long()
"""

ENTRY = FindingKind(
    "all-zero-input",
    "The inputs are zero",
    "A layer learns from its inputs: its gradient is their product with what comes back. Of zeros "
    "only the bias learns. // and whole-number types cut fractions off, so scale with / and keep "
    "floats.",
    detect,
    sick=(
        "# divided without a remainder\n" + _PIXELS + "x = (pixels // 255).float()  # !\n" + _NET,
        "# fractions cut off\n" + _PIXELS + "x = (pixels / 255).long() * 1.0  # !\n" + _NET,
        """# images of a loader, with a few white pixels
torch.manual_seed(0)
images = torch.randint(0, 256, (24, 1, 6, 6), dtype=torch.uint8)
labels = torch.randint(2, (24,))
data = torch.utils.data.TensorDataset(images, labels)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
opt = optim.SGD(net.parameters(), lr=0.1)
for batch, target in torch.utils.data.DataLoader(data, batch_size=8):
    batch = batch // 255  # !
    loss = F.cross_entropy(net(batch.float()), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# never filled
torch.manual_seed(0)
x = torch.zeros(20, 16)  # !
for i, row in enumerate(torch.randn(20, 16)):
    filled = x[i] + row
y = torch.randint(2, (20,))
"""
        + _NET,
    ),
    healthy=(
        "# divided\n" + _PIXELS + "x = (pixels / 255).float()\n" + _NET,
        """# filled, and most of it zero
torch.manual_seed(0)
x = torch.zeros(20, 16)
for i in range(20):
    x[i, i % 16] = 1.0
y = torch.arange(20) % 2
"""
        + _NET,
        """# a state that begins as zeros, and numbers of groups
torch.manual_seed(0)
cell, emb, head = nn.RNNCell(3, 4), nn.Embedding(2, 3), nn.Linear(4, 1)
opt = optim.SGD([*cell.parameters(), *emb.parameters(), *head.parameters()], lr=0.1)
groups = torch.arange(6) // 16
for step in range(4):
    hidden = torch.zeros(6, 4)
    hidden = cell(emb(groups), hidden)
    hidden = cell(emb(groups), hidden)
    opt.zero_grad()
    F.mse_loss(head(hidden), torch.ones(6, 1)).backward()
    opt.step()
""",
    ),
)
