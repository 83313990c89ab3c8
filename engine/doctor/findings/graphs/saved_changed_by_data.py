"""A tensor that backward needs was changed through .data, which no version counter sees."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.tape import Node, Op, Place, Saved, Snapshot

_SHAPE_OR_ORDER = frozenset(
    f"{name}Backward"
    for name in (
        "Abs Clamp ClampMax ClampMin CumSum Embedding Gather Hardtanh IndexSelect LeakyRelu "
        "MaskedSelect MaxPool2DWithIndices MaxPool3DWithIndices NllLoss NllLoss2D Relu Take "
        "Threshold"
    ).split()
)
"""Nodes that need of a saved tensor its shape, or no more than the side of a bend it lies on."""


class _Write(NamedTuple):
    """A change past the version counter: its event position, its place and the memory changed."""

    position: int
    place: Place
    storage: int
    is_exchange: bool = False
    """True for ``x.data = ...``, which gives the tensor other memory."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the first change through .data between each op and its backward node."""
    writes = defaultdict[int, list[_Write]](list)
    for write in sorted(_writes(evidence), key=lambda w: w.position):
        writes[write.storage].append(write)
    if not writes:
        return
    found = set[int]()
    for position, node in _executions(evidence):
        since = evidence.op_at.get(node.op) if node.op is not None else None
        if node.op is None or since is None or node.name.rstrip("0123456789") in _SHAPE_OR_ORDER:
            continue
        op = evidence.tape.ops[node.op]
        for saved in node.kept:
            candidates = writes.get(saved.storage, [])
            first = bisect_right(candidates, since, key=lambda w: w.position)
            last = bisect_left(candidates, position, key=lambda w: w.position)
            for write in candidates[first:last]:
                value = _spoiled_value(evidence, op, saved, write, position)
                if value is not None and write.place.line not in found:
                    found.add(write.place.line)
                    yield _case(evidence, write, op, value, position)


def _spoiled_value(
    evidence: Evidence, op: Op, saved: Saved, write: _Write, position: int
) -> int | None:
    """Return the value that an op saved if it has other numbers when its node runs."""
    value = _saved_value(evidence, op, saved)
    if value is None or (write.is_exchange and value in op.outputs):
        return None  # Of its own result an op saves the memory, not the tensor.
    differs = _differ(evidence.snapshot(value), _latest(evidence, value, position))
    return value if differs else None


def _saved_value(evidence: Evidence, op: Op, saved: Saved) -> int | None:
    """Return the value that an op saved, also where it saved it transposed."""
    if saved.value is not None or saved.storage < 0:
        return saved.value
    ends = (*op.inputs, *op.outputs)
    return next((v for v in ends if evidence.values[v].storage == saved.storage), None)


def _executions(evidence: Evidence) -> Iterator[tuple[int, Node]]:
    """Yield the positions at which backward nodes ran, with the nodes."""
    nodes = {node.id: node for node in evidence.tape.nodes}
    for at, event in enumerate(evidence.tape.events):
        if event.kind == "node":
            node = nodes.get(evidence.tape.executions[event.ref].node)
            if node is not None and node.kept:
                yield at, node


def _writes(evidence: Evidence) -> list[_Write]:
    """Return the in-place ops on ``x.data`` and its views, and the assignments ``x.data = ...``."""
    values, ops = evidence.values, evidence.tape.ops
    past_counter = set[int]()
    found = list[_Write]()
    for index, op in enumerate(ops):
        if op.op == "data":
            past_counter.update(values[o].tensor for o in op.outputs)
        if not op.outputs or not op.inputs or op.op == "data":
            continue
        target, source = values[op.outputs[-1]], values.get(op.inputs[0])
        if source is None or source.tensor not in past_counter:
            continue
        if target.storage == source.storage and target.storage >= 0:
            past_counter.add(target.tensor)
            if op.inplace and index in evidence.op_at:
                at = evidence.op_at[index]
                found.append(_Write(at, op.place, target.storage))
    return found + list(_exchanges(evidence))


def _exchanges(evidence: Evidence) -> Iterator[_Write]:
    """Yield the assignments ``x.data = ...``."""
    for at, event in enumerate(evidence.tape.events):
        if event.kind == "write" and event.line:
            for change in evidence.tape.writes[event.ref]:
                before, after = evidence.values[change.before], evidence.values[change.after]
                if before.tensor == after.tensor and before.storage != after.storage:
                    place = evidence.program.line(event.line)
                    yield _Write(at, place, before.storage, is_exchange=True)


def _latest(evidence: Evidence, value: int, position: int) -> Snapshot | None:
    """Return the numbers that a value's tensor, or all of its memory, had at a position."""
    known = evidence.values[value]
    shown = [
        other
        for other in evidence.tape.values
        if (
            other.tensor == known.tensor
            or (other.storage, other.offset, other.shape, other.stride)
            == (known.storage, known.offset, known.shape, known.stride)
        )
        and other.snapshot is not None
        and evidence.position(other.id) < position
    ]
    return evidence.snapshot(max(shown, key=lambda v: v.id).id) if shown else None


def _differ(before: Snapshot | None, after: Snapshot | None) -> bool:
    if before is None or after is None:
        return False
    if before.data is not None and after.data is not None:
        return before.data != after.data
    return (before.mean, before.norm, before.min, before.max) != (
        after.mean,
        after.norm,
        after.min,
        after.max,
    )


def _case(evidence: Evidence, write: _Write, op: Op, value: int, position: int) -> FoundCase:
    name = evidence.name(value, "a tensor")
    before, after = evidence.snapshot(value), _latest(evidence, value, position)
    numbers = [s.item() if s is not None and s.shape == () else None for s in (before, after)]
    shown = (
        f" from {numbers[0]:g} to {numbers[1]:g}"
        if all(isinstance(n, float) for n in numbers)
        else ""
    )
    message = (
        f".data changes {name}{shown} after {op.op} on line {op.place.line} saved it for "
        "backward, so the gradient is computed from the wrong numbers and no error is raised"
    )
    line = _line_of_pass(evidence, position)
    related = (op.place, evidence.program.line(line))
    return FoundCase(
        write.place, message, related, _moved(evidence.program, write.place.line, line)
    )


def _line_of_pass(evidence: Evidence, position: int) -> int:
    """Return the line of the pass in which a position lies."""
    starts = [(at, number) for number, at in evidence.pass_at.items() if at < position]
    return evidence.tape.passes[max(starts)[1]].line if starts else 0


def _moved(program: ProgramTree, changed: int, backward: int) -> str:
    """Move the change behind backward, if both stand in the same block."""
    first, last = program.statement(changed), program.statement(backward)
    if first is None or last is None or changed >= backward:
        return ""
    if program.indent(first) != program.indent(last):
        return ""
    if program.loop(changed) is not program.loop(backward):
        return ""
    text = program.inserted(backward, program.source(first), after=True)
    return ProgramTree(text).without(changed) if text else ""


ENTRY = FindingKind(
    "saved-changed-by-data",
    "A tensor that backward needs was changed through .data",
    "Autograd notices an in-place change by the tensor's version, and .data is outside of this "
    "check: backward computes with the new numbers in silence. Change it after backward, or change "
    "a clone.",
    detect,
    sick=(
        """x = param(2.0)
y = x * x
x.data.mul_(5)  # !
y.backward()
print(x.grad)
""",
        """# other memory
x = param(2.0)
y = x * x
x.data = torch.tensor(10.0)  # !
y.backward()
print(x.grad)
""",
        """# a second backward after a step by hand
w = param([2.0, 3.0])
loss = (w * w).sum()
loss.backward(retain_graph=True)
w.data -= 0.1 * w.grad  # !
loss.backward()
print(w.grad)
""",
        """# in a function, through a view
def scale(t, by):
    t.data[:1].mul_(by)  # !
x = param([1.0, 2.0])
loss = torch.sin(x).sum()
scale(x, 3.0)
loss.backward()
print(x.grad)
""",
        """# a result that exp saved
x = param([1.0, 2.0])
y = torch.exp(x)
y.data += 1  # !
y.sum().backward()
print(x.grad)
""",
        """# a cell of the weight of a layer
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.last = nn.Linear(3, 1)
    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))
net = Net()
loss = net(torch.ones(4, 2)).pow(2).mean()
net.last.weight.data[0, 1] = 7.0  # !
loss.backward()
print(net.first.weight.grad)
""",
    ),
    healthy=(
        """# changed after backward
x = param(2.0)
y = x * x
y.backward()
x.data.sub_(0.1 * x.grad)
print(x)
""",
        """# changed before the op
x = param(2.0)
x.data.mul_(5)
y = x * x
y.backward()
print(x.grad)
""",
        """# the op saved nothing
x = param([1.0, 2.0])
y = x + 1
y.data.mul_(3)
y.sum().backward()
print(x.grad)
""",
        """# other memory for a result whose op saved the memory it had
x = param([1.0, 2.0])
y = torch.exp(x)
y.data = torch.zeros(2)
y.sum().backward()
print(x.grad)
""",
        """# the sign of what relu saved stays
x = param([1.0, -2.0])
y = torch.relu(x)
y.data.mul_(3)
y.sum().backward()
print(x.grad)
""",
        """# binary weights in the forward, put back before the step
torch.manual_seed(0)
net = nn.Linear(3, 1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    full = net.weight.data.clone()
    net.weight.data = net.weight.data.sign()
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    net.weight.data = full
    opt.step()
""",
        """# clipped weights, each step with its own forward
torch.manual_seed(0)
net = nn.Linear(3, 1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p in net.parameters():
        p.data.clamp_(-0.5, 0.5)
""",
        """# changed and put back before backward
x = param(2.0)
y = x * x
x.data.mul_(4)
print(x)
x.data.div_(4)
y.backward()
print(x.grad)
""",
        """# a clone is changed
x = param(2.0)
y = x * x
other = x.data.clone()
other.mul_(5)
y.backward()
print(x.grad, other)
""",
    ),
)
