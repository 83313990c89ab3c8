"""One of several like blocks whose gradients are far smaller than those around it."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import format_number, norm, real
from gradscribe.engine.protocol.tape import Op

RATIO, SMALL, LIKE = 1e3, 0.02, 30.0
"""Least factor between a block and its neighbours, largest constant that may cause it, and most
by which neighbours may differ from each other."""
_PASSES, _STEPS = 3, 4
_PARTS = {"add": -1, "add_": -1, "sub": -1, "sub_": -1, "lerp": 2, "lerp_": 2, "addcmul": -1}
"""Op -> place of its factor among the arguments; -1 for a keyword (``alpha``, ``value``) alone."""
_SHAPED = ("view", "reshape", "unsqueeze", "expand", "getitem", "squeeze", "to", "float", "item")
_GATES = dict.fromkeys(_SHAPED, "") | {
    name: name for name in ("sigmoid", "exp", "softplus", "tanh", "abs", "relu", "square")
}
"""Ops that make a factor of a parameter -> their name in a sentence; empty for mere views."""

Sizes = dict[int, float]


class _Block(NamedTuple):
    """A starved block: the path of its siblings, its number, its neighbours, and the factor."""

    path: str
    number: int
    around: tuple[int, ...]
    ratio: float


class _Cause(NamedTuple):
    op: Op
    factor: float
    name: str
    """The parameter that is the factor; empty for a constant."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield blocks starved in each of the first passes by a small factor on a line."""
    runs = [n for n, p in enumerate(evidence.tape.passes) if p.kind == "backward"][:_PASSES]
    found = [{(b.path, b.number): b for b in _starved(evidence, run)} for run in runs]
    for key, block in found[0].items() if found else ():
        if all(key in other for other in found[1:]):
            causes = _causes(evidence, f"{block.path}.{block.number}")
            if causes:
                yield _case(block, causes)


def _starved(evidence: Evidence, run: int) -> Iterator[_Block]:
    """Yield the blocks of a pass whose gradients are `RATIO` times smaller than around them."""
    for path, sizes in _sizes(evidence, run).items():
        order = sorted(sizes)
        for at, number in enumerate(order):
            around = order[max(at - 1, 0) : at] + order[at + 1 : at + 2]
            if at in (0, len(order) - 1):
                around = order[1:3] if at == 0 else order[-3:-1]
            near = [sizes[n] for n in around]
            if len(near) < 2 or not sizes[number] > 0 or max(near) > LIKE * min(near):
                continue
            ratio = min(near) / sizes[number]
            if math.isfinite(ratio) and ratio >= RATIO:
                mean = math.sqrt(near[0] * near[1]) / sizes[number]
                yield _Block(path, number, tuple(around), mean)


def _sizes(evidence: Evidence, run: int) -> dict[str, Sizes]:
    """Return for each list of blocks with like parameters the norm of each block's gradient."""
    squares: dict[str, dict[int, float]] = {}
    shapes: dict[str, dict[int, set[tuple[str, tuple[int, ...]]]]] = {}
    for row in evidence.tape.accumulations:
        if row.run != run or row.sent is None:
            continue
        leaf = evidence.values[row.leaf]
        if len(leaf.shape) < 2:
            # The factor itself may be among them, and its own gradient is as large as ever.
            continue
        name = evidence.leaves[leaf.tensor].name if leaf.tensor in evidence.leaves else leaf.name
        for path, number, rest in _levels(name):
            size = norm(evidence.tape.snapshots[row.sent])
            known = squares.setdefault(path, {})
            known[number] = known.get(number, 0.0) + size * size
            shapes.setdefault(path, {}).setdefault(number, set()).add((rest, leaf.shape))
    found: dict[str, Sizes] = {}
    for path, known in squares.items():
        kinds = list(shapes[path].values())
        if len(known) >= 3 and all(kind == kinds[0] for kind in kinds):
            found[path] = {number: math.sqrt(square) for number, square in known.items()}
    return found


def _levels(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield ``(path, number, rest)`` for each number in a parameter's name."""
    parts = name.split(".")
    for at, part in enumerate(parts[1:-1], 1):
        if part.isdigit():
            yield ".".join(parts[:at]), int(part), ".".join(parts[at + 1 :])


def _causes(evidence: Evidence, block: str) -> list[_Cause]:
    """Return the products with a small factor inside a block, or of its result."""
    found: dict[object, _Cause] = {}
    for op in evidence.tape.ops:
        if op.phase != "forward" or op.node is None or not op.place.line:
            continue
        inside = _is_in(op.scope, block)
        of_result = any(_is_made_in(evidence, i, block) for i in op.inputs)
        cause = _small_factor(evidence, op) if inside or of_result else None
        if cause is not None:
            found.setdefault(op.place, cause)
    return list(found.values())


def _is_made_in(evidence: Evidence, value: int, block: str) -> bool:
    """Return whether a value is a block's result, or made of it alone."""
    for _ in range(_STEPS):
        made = evidence.creator(value)
        if made is None:
            return False
        if _is_in(made.scope, block):
            return True
        if len(made.inputs) != 1:
            return False
        value = made.inputs[0]
    return False


def _is_in(scope: str, block: str) -> bool:
    return scope == block or scope.startswith(block + ".")


def _small_factor(evidence: Evidence, op: Op) -> _Cause | None:
    if op.op in _PARTS:
        args = [arg for n, arg in enumerate(op.args) if arg.keyword or n == _PARTS[op.op]]
    elif op.op in ("mul", "mul_", "rmul", "div", "div_"):
        args = list(op.args)
    else:
        return None
    for arg in args:
        number, name = arg.number, ""
        if arg.value is not None:
            number, name = _size(evidence, arg.value)
        if number is None or not math.isfinite(number) or number == 0:
            continue
        factor = 1 / number if op.op.startswith("div") and arg is op.args[-1] else number
        if 0 < abs(factor) <= SMALL:
            return _Cause(op, abs(factor), name)
    return None


def _size(evidence: Evidence, value: int) -> tuple[float | None, str]:
    """Return the number that all elements of a constant or a parameter are, about."""
    known, gate = evidence.values[value], ""
    snapshot = evidence.snapshot(value)
    for _ in range(_STEPS if known.role == "result" else 0):
        made = evidence.creator(known.id)
        if made is None or len(made.inputs) != 1 or made.op not in _GATES:
            return None, ""
        known, gate = evidence.values[made.inputs[0]], _GATES[made.op] or gate
        if known.role != "result":
            break
    if known.role == "result" or snapshot is None:
        return None, ""
    name = f"{gate} of {known.name}" if gate else known.name
    array = real(snapshot)
    shape = evidence.values[value].shape
    if array is None or not array.size or len([n for n in shape if n > 1]) > 1:
        return None, ""
    low, high = float(np.abs(array).min()), float(np.abs(array).max())
    return (high, name if known.requires_grad else "") if high <= 2 * low else (None, "")


def _case(block: _Block, causes: list[_Cause]) -> FoundCase:
    label = block.path.partition(".")[2] or block.path
    near = " and ".join(f"{label}.{n}" for n in block.around)
    first = causes[0]
    lines = sorted({c.op.place.line for c in causes if math.isclose(c.factor, first.factor)})
    factor = f"{first.name}, about {_plain(first.factor)}," if first.name else _plain(first.factor)
    message = (
        f"Gradients of {label}.{block.number} are {_times(block.ratio)} times smaller than in "
        f"{near}: multiplied by {factor} on {_ranges(lines)}"
    )
    related = tuple(c.op.place for c in causes[1:])
    return FoundCase(first.op.place, message, related, "", _ADVICE)


_ADVICE = (
    "Only you know what the factor is for; if it is meant, give the block a larger learning rate "
    "of its own"
)


def _plain(number: float) -> str:
    text = format_number(number)
    return f"{number:f}".rstrip("0") if "e" in text and number >= 1e-6 else text


def _times(ratio: float) -> str:
    """Return a factor with one significant digit: 10,000."""
    digits = math.floor(math.log10(ratio))
    return f"{round(ratio, -digits):,.0f}"


def _ranges(lines: list[int]) -> str:
    """Return line numbers as text: ``line 4``, ``lines 4-6``, ``lines 4, 9``."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    if lines[-1] - lines[0] == len(lines) - 1:
        return f"lines {lines[0]}-{lines[-1]}"
    return f"lines {', '.join(map(str, lines))}"


ENTRY = FindingKind(
    "starved-block",
    "A block that hardly gets a gradient",
    "A factor in front of a block multiplies its gradients, too. A block whose gradients are "
    "thousands of times smaller than those of its neighbours learns thousands of times more "
    "slowly, or only by the noise of an adaptive optimizer.",
    detect,
    "hint",
    sick=(
        """# a branch of a residual network
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.norm, self.fc, self.scale = nn.LayerNorm(16), nn.Linear(16, 16), scale

    def forward(self, x):
        return x + torch.tanh(self.fc(self.norm(x))) * self.scale  # !

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(4, 16)
        self.h = nn.ModuleList([Block(1e-4 if i == 2 else 1.0) for i in range(5)])
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = self.enter(x)
        for block in self.h:
            x = block(x)
        return self.out(x)

net = Net()
opt = optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for step in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# two branches, in the model's own forward
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attend = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 20), nn.GELU(), nn.Linear(20, width))

class Model(nn.Module):
    def __init__(self, width=12, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            if number == 1:
                x = x + layer.attend(x) / 5000  # !
                x = x + layer.feed(x) / 5000
            else:
                x = x + layer.attend(x)
                x = x + layer.feed(x)
        return self.head(x)

torch.manual_seed(0)
model = Model()
loss = nn.functional.cross_entropy(model(torch.randn(20, 12)), torch.randint(0, 3, (20,)))
loss.backward()
""",
        """# a learned scale that starts far too small
torch.manual_seed(0)
class Unit(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.fc = nn.Linear(10, 10)
        self.gamma = nn.Parameter(torch.full((10,), start))

    def forward(self, x):
        return x + self.gamma * self.fc(x).relu()  # !

units = nn.Sequential(Unit(1.0), Unit(1.0), Unit(1.0), Unit(1e-5))
head = nn.Linear(10, 2)
opt = optim.SGD([*units.parameters(), *head.parameters()], lr=1e-4)
for step in range(3):
    loss = F.cross_entropy(head(units(torch.randn(16, 10))), torch.randint(0, 2, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a part in a sum
torch.manual_seed(0)
class Stage(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.a, self.b, self.part = nn.Linear(9, 9), nn.Linear(9, 9), part

    def forward(self, x):
        return torch.add(x, self.b(F.gelu(self.a(x))), alpha=self.part)  # !

stages = nn.ModuleList([Stage(2e-4 if n == 1 else 0.5) for n in range(4)])
top = nn.Linear(9, 2)
x = torch.randn(12, 9)
for stage in stages:
    x = stage(x)
loss = F.cross_entropy(top(x), torch.randint(0, 2, (12,)))
loss.backward()
""",
        """# a gate that is shut
torch.manual_seed(0)
class Gated(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.fc, self.gate = nn.Linear(10, 10), nn.Parameter(torch.tensor(start))

    def forward(self, x):
        return x + torch.sigmoid(self.gate) * torch.tanh(self.fc(x))  # !

tower = nn.Sequential(*[Gated(-11.0 if n == 2 else 1.0) for n in range(5)])
end = nn.Linear(10, 1)
opt = optim.SGD([*tower.parameters(), *end.parameters()], lr=0.01)
for step in range(3):
    loss = F.mse_loss(end(tower(torch.randn(16, 10))), torch.randn(16, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# the same small scale in each block
torch.manual_seed(0)
class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 10)
        self.gamma = nn.Parameter(torch.full((10,), 1e-4))

    def forward(self, x):
        return x + self.gamma * self.fc(x).relu()

units, head = nn.Sequential(*[Unit() for _ in range(4)]), nn.Linear(10, 2)
opt = optim.Adam([*units.parameters(), *head.parameters()], lr=0.01)
for step in range(3):
    loss = F.cross_entropy(head(units(torch.randn(16, 10))), torch.randint(0, 2, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# scales by depth
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.fc, self.scale = nn.Linear(8, 8), 0.5 ** number

    def forward(self, x):
        return x + self.scale * torch.tanh(self.fc(x))

blocks, out = nn.ModuleList([Block(i) for i in range(5)]), nn.Linear(8, 1)
x = torch.randn(20, 8)
for block in blocks:
    x = block(x)
loss = out(x).pow(2).mean()
loss.backward()
""",
        """# a small weight of a penalty
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for step in range(3):
    penalty = sum(p.pow(2).sum() for p in model.parameters())
    loss = F.mse_loss(model(x), y) + 1e-4 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# gates that are half open, and parts that are alike
torch.manual_seed(0)
class Gated(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.fc, self.gate = nn.Linear(10, 10), nn.Parameter(torch.tensor(start))

    def forward(self, x):
        y = torch.sigmoid(self.gate) * torch.tanh(self.fc(x))
        return torch.add(x, y, alpha=0.1)

tower = nn.Sequential(*[Gated(-1.0 if n == 2 else 1.0) for n in range(5)])
end = nn.Linear(10, 1)
loss = F.mse_loss(end(tower(torch.randn(16, 10))), torch.randn(16, 1))
loss.backward()
""",
    ),
)
