"""A layer whose units start equal and stay copies of each other."""

import ast
from collections.abc import Iterator

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names
from gradscribe.engine.doctor.snapshot_stats import format_number, real
from gradscribe.engine.protocol.tape import Op, Value

LEAST_STEPS, _MOST = 2, 200
FEW = 4
"""Number of units from which on equal ones are no example to follow by hand."""
_LAYERS = ("linear", "conv1d", "conv2d", "conv3d")
_PRODUCTS = ("matmul", "mm", "addmm")
_CONSTANT = frozenset(
    "constant_ zeros_ ones_ fill_ zero_ full zeros ones full_like ones_like".split()
)


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield trained weights whose units were equal before each step and after the last."""
    for tensor, leaf in evidence.leaves.items():
        if tensor not in evidence.updated or len(leaf.shape) < 2:
            continue
        axis = _unit_axis(evidence, tensor)
        if axis is None or leaf.shape[axis] < 2:
            continue
        moved = _moved_together(evidence, tensor, axis)
        if moved is not None:
            yield _case(evidence, leaf, leaf.shape[axis], moved)


def _unit_axis(evidence: Evidence, tensor: int) -> int | None:
    """Return the axis of a weight that counts the units of a hidden layer, else None."""
    found: int | None = None
    for value in evidence.versions[tensor]:
        for index in evidence.users.get(value.id, ()):
            op = evidence.tape.ops[index]
            if op.node is None or op.outputs[0] not in evidence.root_dependencies:
                continue
            if op.op in _LAYERS and op.inputs[1:2] == (value.id,):
                axis = 0
            elif op.op in _PRODUCTS and op.inputs[-1] == value.id and len(value.shape) == 2:
                axis = 1
            else:
                return None
            if found is None and not _is_hidden(evidence, op, tensor):
                return None
            found = axis
    return found


def _is_hidden(evidence: Evidence, layer: Op, tensor: int) -> bool:
    """Return whether another trained weight multiplies what comes out of a layer."""
    seen, stack = set[int](), list(layer.outputs)
    while stack and len(seen) < _MOST:
        for index in evidence.users.get(stack.pop(), ()):
            op = evidence.tape.ops[index]
            if index in seen or op.phase != "forward":
                continue
            seen.add(index)
            others = [evidence.values[i] for i in op.inputs]
            if op.op in _PRODUCTS + _LAYERS and any(
                v.tensor != tensor and v.tensor in evidence.updated and len(v.shape) > 1
                for v in others
            ):
                return True
            stack.extend(op.outputs)
    return False


def _moved_together(evidence: Evidence, tensor: int, axis: int) -> float | None:
    """Return how far the units went if they were equal from first to last use, else None."""
    versions = evidence.versions[tensor]
    used = [
        at
        for at, value in enumerate(versions)
        if any(evidence.tape.ops[i].node is not None for i in evidence.users.get(value.id, ()))
    ]
    arrays = []
    for at, value in list(enumerate(versions))[used[0] :] if used else ():
        snapshot = evidence.snapshot(_written(evidence, value) if at == used[0] else value.id)
        array = real(snapshot) if snapshot is not None else None
        if array is None or not np.isfinite(array).all() or not _all_equal(array, axis):
            return None
        arrays.append(array)
    steps = _steps(evidence, tensor)
    moved = float(np.linalg.norm(arrays[-1] - arrays[0])) if arrays else 0.0
    is_stuck = bool(arrays) and not arrays[-1].any()
    return moved if steps >= LEAST_STEPS and (moved > 0 or is_stuck) else None


def _written(evidence: Evidence, value: Value) -> int:
    """Return the value of the last write by ``.data`` before a weight's first use, else it."""
    uses = [evidence.tape.ops[i] for i in evidence.users[value.id]]
    first = min(op.id for op in uses if op.node is not None)
    found = value.id
    for op in evidence.tape.ops:
        if op.id < first and op.inplace and op.outputs:
            last = evidence.values[op.outputs[-1]]
            if last.storage == value.storage and last.shape == value.shape:
                found = last.id
    return found


def _steps(evidence: Evidence, tensor: int) -> int:
    """Return the number of updates after the first gradient."""
    kinds = [m.kind for m in evidence.leaf_events[tensor]]
    return kinds[kinds.index("add") :].count("update") if "add" in kinds else 0


def _all_equal(array: np.ndarray, axis: int) -> bool:
    """Return whether all units are equal, but for the last digits of sums in another order."""
    units = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    return bool(np.abs(units - units[0]).max() <= 1e-5 * np.abs(units).max())


def _case(evidence: Evidence, leaf: Value, units: int, moved: float) -> FoundCase:
    program = evidence.program
    steps = _steps(evidence, leaf.tensor)
    name = leaf.name or "this weight"
    if moved > 0:
        message = (
            f"All {units} units of {name} start with the same numbers and get the same gradient: "
            f"after {steps} steps they have moved by {format_number(moved)} and are still equal, "
            "so they count as one"
        )
    else:
        message = (
            f"{name} starts with zeros in front of a layer of zeros: its gradient is 0 in all "
            f"{steps} steps, and none of its {units} units ever learns"
        )
    line = _line(evidence, leaf)
    place = program.line(line) if line else leaf.place
    fix = _fix(program, line)
    related = (leaf.place,) if leaf.place.line != place.line else ()
    return FoundCase(place, message, related, fix, _ADVICE, is_hint=units < FEW)


_ADVICE = "Start the weights with random numbers, as nn.Linear does by itself"


def _line(evidence: Evidence, leaf: Value) -> int:
    """Return the line that fills the weight with a constant, if there is a single one."""
    program = evidence.program
    last = leaf.name.rpartition(".")[2]
    found = [
        call for call in program.calls(*_CONSTANT) if not _is_about(call, "bias") or last == "bias"
    ]
    about = [c for c in found if _is_about(c, leaf.name) or _is_bound(program, c, leaf.name)]
    lines = {c.lineno for c in (about or found)}
    return lines.pop() if len(lines) == 1 else min(lines, default=0)


def _is_about(call: ast.Call, name: str) -> bool:
    text = ast.unparse(call)
    return name in text.replace("[", ".").replace("]", "")


def _is_bound(program: ProgramTree, call: ast.Call, name: str) -> bool:
    return any(call in ast.walk(v) for _, v in program.bindings.get(name, ()))


def _fix(program: ProgramTree, line: int) -> str:
    """Fill with random numbers where a constant was written by a function of nn.init."""
    statement = program.statement(line) if line else None
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement else []
    fills = [c for c in calls if called_name(c) in ("constant_", "zeros_", "ones_")]
    if len(fills) != 1 or not fills[0].args or not isinstance(fills[0].func, ast.Attribute):
        return ""
    if "weight" not in ast.unparse(fills[0].args[0]) or "init" not in names(fills[0].func) | {
        n.attr for n in ast.walk(fills[0].func) if isinstance(n, ast.Attribute)
    }:
        return ""
    owner = program.source(fills[0].func.value)
    target = program.source(fills[0].args[0])
    return program.replaced((fills[0], f"{owner}.kaiming_uniform_({target})"))


ENTRY = FindingKind(
    "symmetric-units",
    "Units that are copies of each other",
    "Units that start equal get equal gradients and stay equal: a layer of a hundred of them can "
    "express no more than a single one. Random weights at the start tell them apart.",
    detect,
    sick=(
        """# constants by nn.init
torch.manual_seed(0)
x = torch.linspace(-2, 2, 40)[:, None]
y = torch.sin(2 * x)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
nn.init.constant_(model[0].weight, 0.5)  # !
nn.init.zeros_(model[0].bias)
nn.init.constant_(model[2].weight, 0.1)
opt = optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# in a function applied to each layer
import torch
from torch import nn

def prepare(layer):
    if isinstance(layer, nn.Linear):
        layer.weight.data.fill_(0.01)  # !
        layer.bias.data.fill_(0)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
net.apply(prepare)
x, y = torch.rand(30, 4), torch.randint(0, 3, (30,))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
""",
        """# by hand, with ones
torch.manual_seed(0)
x = torch.randn(20, 3)
y = (x[:, :1] * x[:, 1:2])
w1 = torch.ones(3, 6, requires_grad=True)  # !
w2 = torch.ones(6, 1, requires_grad=True)
for step in range(5):
    pred = torch.tanh(x @ w1) @ w2
    loss = ((pred - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.01 * w.grad
            w.grad = None
""",
        """# zeros everywhere
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 10)
        self.out = nn.Linear(10, 1)
        for p in self.parameters():
            nn.init.zeros_(p)  # !

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))

net = Net()
x, y = torch.randn(20, 3), torch.randn(20, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# a last layer of zeros, as in softmax regression
torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))
model = nn.Linear(4, 3)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a layer of zeros behind random ones
torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randn(30, 2)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
nn.init.zeros_(model[2].weight)
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(5):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a single neuron from zeros
torch.manual_seed(0)
x = torch.randn(20, 3)
y = (x.sum(1, keepdim=True) > 0).float()
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for step in range(5):
    loss = F.binary_cross_entropy_with_logits(x @ w + b, y)
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.5 * p.grad
            p.grad = None
""",
        """# numbers to follow by hand, one step
x = torch.tensor([[1.0, 2.0]])
layer = nn.Linear(2, 2, bias=False)
nn.init.ones_(layer.weight)
opt = optim.SGD(layer.parameters(), lr=0.1)
loss = layer(x).sum()
loss.backward()
opt.step()
print(layer.weight)
""",
    ),
)
