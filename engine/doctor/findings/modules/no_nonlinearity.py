"""Several linear layers without a nonlinearity, on data that no line fits."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fitness import linear_share, smooth_share
from gradscribe.engine.doctor.fixes import call_at
from gradscribe.engine.doctor.program_tree import called_name
from gradscribe.engine.doctor.snapshot_stats import real
from gradscribe.engine.protocol.tape import Op, Place

_PRODUCTS = frozenset(("linear", "matmul", "mm", "addmm"))
_LINEAR = _PRODUCTS | frozenset(
    "add add_ squeeze unsqueeze view reshape flatten contiguous identity T t transpose float to "
    "getitem double".split()
)
_AFTER = _LINEAR | frozenset(
    "sub rsub pow mul rmul square abs mean sum neg sigmoid softmax log_softmax log exp mse_loss "
    "l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits "
    "cross_entropy nll_loss logsigmoid gather div".split()
)
"""Ops between a model's output and the loss that bend nothing of the model."""
LEAST_STEPS, TABLE = 10, 8
"""Least number of updates; number of rows up to which data may be a truth table."""
LINEAR_SHARE, SMOOTH_SHARE = 0.5, 0.5
"""Most that a line explains, and least that a curve explains, of the targets' variance."""


class _Model(NamedTuple):
    layers: list[Op]
    data: int
    targets: list[int]


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield models of linear layers alone that trained on data which only a curve fits."""
    roots: dict[int, list[int]] = {}
    for current in evidence.tape.passes:
        if current.kind == "backward" and len(current.roots) == 1 and current.roots[0] is not None:
            roots.setdefault(current.line, []).append(current.roots[0])
    for found in roots.values():
        if len(found) < LEAST_STEPS or not evidence.updated:
            continue
        model = _linear_model(evidence, found[-1])
        shares = _shares(evidence, found) if model is not None else None
        if model is not None and shares is not None:
            yield _case(evidence, model, *shares)


def _linear_model(evidence: Evidence, root: int) -> _Model | None:
    """Return the layers between data and a loss if they are linear and nothing else learns."""
    inside = _graph(evidence, root)
    order = sorted(inside, key=lambda op: op.id)
    layers = [op for op in order if op.op in _PRODUCTS and _weights(evidence, op)]
    if len(layers) < 2 or any(op.op not in _AFTER for op in order):
        return None
    before = _graph(evidence, layers[-1].outputs[0])
    known = {op.id for op in before}
    if any(op.op not in _LINEAR for op in before) or any(op.id not in known for op in layers):
        return None
    for one, other in pairwise(layers):
        if _source(evidence, other) != one.outputs[0] or len(evidence.users[one.outputs[0]]) != 1:
            return None
    data = _source(evidence, layers[0])
    if evidence.values[data].requires_grad:
        return None
    given = dict.fromkeys(i for op in inside if op.id not in known for i in op.inputs)
    targets = [
        i for i in given if not evidence.values[i].requires_grad and evidence.values[i].shape
    ]
    return _Model(layers, data, targets)


def _graph(evidence: Evidence, root: int) -> list[Op]:
    """Return the ops that a value requires a gradient through."""
    found: dict[int, Op] = {}
    stack = [root]
    while stack:
        value = stack.pop()
        known = evidence.values[value]
        op = evidence.creator(value) if known.requires_grad and not known.is_leaf else None
        if op is not None and op.id not in found:
            found[op.id] = op
            stack.extend(op.inputs)
    return list(found.values())


def _weights(evidence: Evidence, op: Op) -> bool:
    return any(
        evidence.values[i].tensor in evidence.updated and len(evidence.values[i].shape) == 2
        for i in op.inputs
    )


def _source(evidence: Evidence, op: Op) -> int:
    """Return the value that a layer multiplies, before additions of a bias and reshaping."""
    value = op.inputs[1] if op.op == "addmm" else op.inputs[0]
    for _ in range(20):
        made = evidence.creator(value) if evidence.values[value].requires_grad else None
        if made is None or made.op not in _LINEAR - _PRODUCTS or not made.inputs:
            break
        value = made.inputs[0]
    return value


def _shares(evidence: Evidence, roots: list[int]) -> tuple[float, float] | None:
    """Return how much of the targets a line and a curve explain, if only the curve does."""
    rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for root in reversed(roots[-50:]):
        model = _linear_model(evidence, root)
        if model is None or len(model.targets) != 1:
            return None
        pair = _numbers(evidence, model)
        if pair is None:
            return None
        rows[model.data] = pair
    x, y = (np.concatenate(parts) for parts in zip(*rows.values(), strict=True))
    x, places = np.unique(x, axis=0, return_index=True)
    y = y[places]
    if not np.isfinite(x).all() or not np.isfinite(y).all() or len(x) <= x.shape[1] + 1:
        return None
    line = linear_share(x, y)
    is_table = len(x) <= TABLE and bool((x == np.round(x)).all())
    curve = 1.0 if is_table else smooth_share(x, y)
    return (line, curve) if line < LINEAR_SHARE and curve > SMOOTH_SHARE else None


def _numbers(evidence: Evidence, model: _Model) -> tuple[np.ndarray, np.ndarray] | None:
    """Return rows of inputs and of targets; classes become columns of 0 and 1."""
    found = []
    is_row = len(evidence.values[model.data].shape) == 1
    for number in (model.data, model.targets[0]):
        snapshot = evidence.snapshot(number)
        array = real(snapshot) if snapshot is not None else None
        if array is None or not array.ndim:
            return None
        found.append(array.reshape(1 if is_row else len(array), -1))
    x, y = found
    if len(x) != len(y):
        return None
    if "int" in evidence.values[model.targets[0]].dtype and y.shape[1] == 1:
        width = evidence.values[model.layers[-1].outputs[0]].shape[-1]
        y = (y == np.arange(width)).astype(float)
    return x, y


def _case(evidence: Evidence, model: _Model, line: float, curve: float) -> FoundCase:
    program, layers = evidence.program, model.layers
    names = [layer.scope or f"line {layer.place.line}" for layer in layers]
    listed = ", ".join(names[:-1]) + f" and {names[-1]}"
    best = "cannot separate this table" if curve == 1.0 else f"explains {max(line, 0):.0%} of it"
    message = (
        f"{listed} follow each other without a nonlinearity, which makes them a single linear "
        f"layer; the best one {best}"
    )
    if curve != 1.0:
        message = message.replace("of it", f"of the targets' variance, a smooth curve {curve:.0%}")
    first, second = layers[0], layers[1]
    related = (first.place, second.place)
    inside = _in_sequence(evidence)
    if inside is not None:
        text = program.source(inside)
        fix = program.replaced((inside, f"{_torch_nn(evidence)}.ReLU(), {text}"))
        return FoundCase(program.place(inside), message, related, fix)
    return FoundCase(second.place, message, related, _wrapped(evidence, second.place), _ADVICE)


_ADVICE = "Put torch.relu or torch.tanh between the layers"


def _in_sequence(evidence: Evidence) -> ast.Call | None:
    """Return the second of two Linear layers in a row in a Sequential, if there is one pair."""
    found = []
    for call in evidence.program.calls("Sequential"):
        for one, other in pairwise(call.args):
            if _is_linear(one) and isinstance(other, ast.Call) and _is_linear(other):
                found.append(other)
    return found[0] if len(found) == 1 else None


def _is_linear(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called_name(node) == "Linear"


def _torch_nn(evidence: Evidence) -> str:
    made = next(iter(evidence.program.calls("Linear")))
    return ast.unparse(made.func).rpartition(".")[0] or "torch.nn"


def _wrapped(evidence: Evidence, place: Place) -> str:
    program = evidence.program
    call = call_at(program, place)
    exact = [c for c in program.find(ast.Call, place) if len(c.args) == 1]
    call = exact[0] if exact else None
    if call is None:
        return ""
    return program.replaced((call.args[0], f"torch.relu({program.source(call.args[0])})"))


ENTRY = FindingKind(
    "no-nonlinearity",
    "Linear layers in a row",
    "A linear map of a linear map is a linear map: without a nonlinearity between them several "
    "layers can express no more than a single one. Put ReLU, Tanh or the like in between.",
    detect,
    "hint",
    sick=(
        """# a truth table
torch.manual_seed(0)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
net = nn.Sequential(
    nn.Linear(2, 6),
    nn.Linear(6, 1),  # !
)
opt = optim.Adam(net.parameters(), lr=0.05)
for step in range(40):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a wave, with a module
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(1, 24)
        self.leave = nn.Linear(24, 1)

    def forward(self, t):
        h = self.enter(t)
        return self.leave(h)  # !

torch.manual_seed(0)
t = torch.linspace(-6, 6, 80).unsqueeze(1)
goal = torch.cos(t)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(30):
    loss = loss_fn(model(t), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        """# two rings, three layers in one expression
torch.manual_seed(0)
angle = torch.rand(120) * 2 * math.pi
label = (torch.arange(120) % 2)
points = torch.stack([angle.cos(), angle.sin()], 1) * (1.0 + 1.5 * label[:, None])

class Rings(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.b(self.a(x))  # !

model = Rings()
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    loss = F.cross_entropy(model(points), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# a line, with two layers to follow by hand
torch.manual_seed(0)
x = torch.linspace(-1, 1, 20).unsqueeze(1)
y = 3 * x - 1
model = nn.Sequential(nn.Linear(1, 4), nn.Linear(4, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a low-rank change of a frozen layer
torch.manual_seed(0)
class Adapted(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))

x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))
head = Adapted(nn.Linear(16, 4), 2)
model = nn.Sequential(nn.Linear(8, 16).requires_grad_(False), nn.Tanh(), head)
opt = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.01)
for step in range(12):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# noise that nothing can learn
torch.manual_seed(0)
x, y = torch.randn(64, 3), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.01)
for step in range(15):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a linear autoencoder
torch.manual_seed(0)
x = torch.randn(40, 6) @ torch.randn(6, 6)
encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
opt = optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for step in range(15):
    loss = F.mse_loss(decoder(encoder(x)), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# an embedding head on features that are already bent
torch.manual_seed(0)
x = torch.linspace(-3, 3, 60).unsqueeze(1)
y = torch.sin(2 * x)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 16), nn.Linear(16, 1))
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(15):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
