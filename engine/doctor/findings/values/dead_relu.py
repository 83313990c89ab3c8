"""ReLU units that give 0 for every sample, and so get no gradient."""

from collections.abc import Iterator

import numpy as np

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.findings.losses.relu_on_output import clipped_outputs
from gradscribe.engine.doctor.gradient_scale_fixes import with_relu
from gradscribe.engine.protocol.tape import Op

SAMPLES, SHARE = 4, 0.75
"""Minimum number of samples, and the share of dead units that is still normal."""
LEARNED = 0.2
"""Share of the first loss that is left where a model learns with the units that are alive."""
_LAST, _MOST = 10, 200
_LAYERS = frozenset("linear conv1d conv2d conv3d matmul mm addmm bmm".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield hidden ReLUs most of whose units were dead in the last passes that trained them."""
    if training.blew_up(evidence):
        return
    found: dict[object, list[Op]] = {}
    # A ReLU on an output is a finding of its own, with a better fix.
    outputs = {clipped.maker.id for clipped in clipped_outputs(evidence)}
    for op in evidence.tape.ops:
        if op.op in ("relu", "relu_") and op.phase == "forward" and op.id not in outputs:
            found.setdefault(_layer(evidence, op), []).append(op)
    for ops in found.values():
        trained = [
            op for op in ops if op.node is not None and op.outputs[0] in evidence.root_dependencies
        ]
        if trained and _is_hidden(evidence, trained[-1]):
            yield from _case(evidence, ops, trained)


def _case(evidence: Evidence, ops: list[Op], trained: list[Op]) -> Iterator[FoundCase]:
    passes = trained[-_LAST:]
    # Units that an evaluation or another batch wakes are not dead.
    masks = [_silent(evidence, op) for op in ops if op.id >= passes[0].id]
    known = [mask for mask in masks if mask is not None]
    if not known or len(known) < len(masks) or any(m.shape != known[0].shape for m in known):
        return
    dead = np.logical_and.reduce(known)
    silent, units = int(dead.sum()), dead.size
    if silent <= SHARE * units or (silent < units and _learns(evidence)):
        return
    op = trained[-1]
    times = f" in the last {len(passes)} passes" if len(passes) > 1 else ""
    message = (
        f"{silent} of {units} units of {op.op}{f' in {op.scope}' if op.scope else ''} give 0 "
        f"for every sample{times}: they send back no gradient"
    )
    made = evidence.creator(op.inputs[0])
    fix = with_relu(evidence.program, leaky=True)
    yield FoundCase(op.place, message, (made.place,) if made is not None else (), fix)


def _learns(evidence: Evidence) -> bool:
    """Return whether a loss fell to a small part of its start."""
    return any(
        0 <= min(curve.losses[-3:]) <= LEARNED * curve.losses[0]
        for curve in training.loss_curves(evidence)
    )


def _is_hidden(evidence: Evidence, relu: Op) -> bool:
    """Return whether a layer with parameters follows: a ReLU in a loss may well be 0."""
    seen, stack = set[int](), list(relu.outputs)
    while stack and len(seen) < _MOST:
        for index in evidence.users.get(stack.pop(), ()):
            op = evidence.tape.ops[index]
            if index in seen or op.phase != "forward":
                continue
            seen.add(index)
            if op.op in _LAYERS and any(
                evidence.values[i].tensor in evidence.leaves for i in op.inputs
            ):
                return True
            stack.extend(op.outputs)
    return False


def _layer(evidence: Evidence, op: Op) -> object:
    """Return what identifies a layer over the passes: an nn.ReLU its path, a call its place."""
    call = evidence.tape.calls[op.call] if op.call is not None else None
    return (op.scope, call.module) if call is not None and call.kind == "ReLU" else op.place


def _axis(dimensions: int) -> int:
    return 1 if dimensions == 4 else dimensions - 1


def _silent(evidence: Evidence, op: Op) -> np.ndarray | None:
    """Return for each unit whether it was 0 for all samples; None if there are too few."""
    snapshot = evidence.snapshot(op.outputs[0])
    array = snapshot.array() if snapshot is not None else None
    if array is None or array.ndim < 2:
        return None
    axis = _axis(array.ndim)
    flat = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
    if flat.shape[0] < SAMPLES:
        return None
    dead: np.ndarray = (flat == 0).all(0)
    return dead


ENTRY = FindingKind(
    "dead-relu",
    "Dead ReLU units",
    "Left of 0 a ReLU is flat. A unit that is there for all samples gets no gradient and may never "
    "come back. Too large a step or a very negative bias brings it there; LeakyReLU or a smaller "
    "learning rate helps.",
    detect,
    "hint",
    setup_fix=SetupFix(activations={"relu": "leaky_relu"}),
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.rand(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
with torch.no_grad():
    model[0].bias.fill_(-20.0)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = F.mse_loss(model(x), y)  # !
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# some units are silent, as always
torch.manual_seed(0)
x = torch.linspace(-math.pi, math.pi, 64)[:, None]
y = torch.sin(x)
model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(20):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# one unit of eight is enough for the curve
torch.manual_seed(17)
x = torch.linspace(0, 4, 40)[:, None]
y = torch.sqrt(x)
model = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.Adam(model.parameters(), lr=0.05)
for step in range(60):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# most units of a narrow layer never wake, and the line is found
torch.manual_seed(31)
x = torch.rand(50, 1)
y = 2 * x + 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(1, 5), nn.Linear(5, 1)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))

model = Net()
opt = optim.Adam(model.parameters(), lr=0.05)
for step in range(60):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(model(torch.rand(9, 1)).mean())
""",
        """# a margin that all samples keep
torch.manual_seed(0)
x = torch.cat([torch.randn(10, 2) + 4, torch.randn(10, 2) - 4])
label = torch.cat([torch.ones(10, 1), -torch.ones(10, 1)])
model = nn.Linear(2, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(15):
    loss = torch.relu(1 - label * model(x)).mean() + 1e-3 * model.weight.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a relu of a short list
x = param([-2.0, -1.0, 0.0, 1.0])
y = torch.relu(x).sum()
y.backward()
""",
    ),
    follows=SPOILED,
)
