"""A ReLU on an output whose loss takes raw scores, or whose targets are negative."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.losses.softmax_before_cross_entropy import without_layer
from gradscribe.engine.doctor.fixes import unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.protocol.tape import Op

_SCORES = ("cross_entropy", "cross_entropy_loss", "binary_cross_entropy_with_logits")
_NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_RELU = ("relu", "relu_", "relu6")
_SHARE = 0.2
"""Share of negative targets from which on a ReLU is in the way."""


class ClippedOutput(NamedTuple):
    """A ReLU whose result a loss takes, and the reason why it is wrong there."""

    maker: Op
    loss: Op
    reason: str


def clipped_outputs(evidence: Evidence) -> Iterator[ClippedOutput]:
    """Yield the ReLUs on outputs that have to be negative at times."""
    for op in evidence.tape.ops:
        if op.op not in _SCORES + _NUMBERS or len(op.inputs) < 2:
            continue
        maker = evidence.creator(evidence.before_pass_through(op.inputs[0]))
        if maker is None or maker.op not in _RELU or not maker.place.line:
            continue
        reason = _reason(evidence, op)
        if reason:
            yield ClippedOutput(maker, op, reason)


def _reason(evidence: Evidence, loss: Op) -> str:
    if loss.op == "binary_cross_entropy_with_logits":
        return "a score of 0 or more is a probability of 0.5 or more"
    if loss.op in _SCORES:
        return "a score that it clips to 0 gets no gradient, however wrong it is"
    snapshot = evidence.snapshot(loss.inputs[1])
    array = snapshot.array() if snapshot is not None else None
    if array is None or not array.size or array.dtype.kind != "f":
        return ""
    share = float(np.mean(array < 0))
    return f"{share:.0%} of the targets are negative" if share >= _SHARE else ""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each ReLU on an output once."""
    program = evidence.program
    for maker, loss, reason in clipped_outputs(evidence):
        message = (
            f"{loss.op} on line {loss.place.line} takes the result of {maker.op}, which is never "
            f"negative: {reason}"
        )
        yield FoundCase(maker.place, message, (loss.place,), _fix(evidence, program, maker))


def _fix(evidence: Evidence, program: ProgramTree, maker: Op) -> str:
    """Remove the last ReLU: its call, or its layer."""
    for node in program.find(ast.Call, maker.place):
        inner = unwrap_call(node, *_RELU)
        if inner is not None:
            return program.replaced((node, program.source(inner)))
    layer = _layer(evidence, maker)
    if layer is not None:
        return without_layer(program, layer)
    call = evidence.tape.calls[maker.call] if maker.call is not None else None
    if call is None or not call.kind.startswith("ReLU"):
        return ""
    for node in program.find(ast.Call, maker.place):
        if len(node.args) == 1 and not node.keywords:
            return program.replaced((node, program.source(node.args[0])))
    return ""


def _layer(evidence: Evidence, maker: Op) -> ast.Call | None:
    """Return the call that made the ReLU layer at the end of a `Sequential`."""
    call = evidence.tape.calls[maker.call] if maker.call is not None else None
    if call is None or not call.kind.startswith("ReLU") or call.parent is None:
        return None
    if evidence.tape.calls[call.parent].kind != "Sequential":
        return None
    path, _, index = call.name.rpartition(".")
    program, last = evidence.program, path.rpartition(".")[2]
    made = [
        value
        for name, rows in program.bindings.items()
        for _, value in rows
        if name.rpartition(".")[2] == last and isinstance(value, ast.Call)
    ]
    made = [c for c in made if called_name(c) == "Sequential"]
    if len(made) != 1:
        made = [c for c in program.calls("Sequential") if len(c.args) == int(index) + 1]
    if len(made) != 1 or int(index) != len(made[0].args) - 1:
        return None
    layer = made[0].args[-1]
    return layer if isinstance(layer, ast.Call) and called_name(layer) == call.kind else None


ENTRY = FindingKind(
    "relu-on-output",
    "A ReLU on the output",
    "The loss needs outputs of both signs. After a ReLU none is negative, and where it clips there "
    "is no gradient. Use activations between layers, and leave the last layer's result as it is.",
    detect,
    sick=(
        """# of a binary classifier
class Bin(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))  # !
        return x


torch.manual_seed(0)
net = Bin()
opt = optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(80, 6)
y = (x[:, 0] + x[:, 1] > 0).float().unsqueeze(1)
for step in range(10):
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    opt.step()
""",
        """# the last layer of a Sequential
torch.manual_seed(0)
x, y = torch.randn(40, 4), torch.randint(0, 3, (40,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.ReLU())
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = nn.CrossEntropyLoss()(model(x), y)  # !
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# of a regression with negative targets, a layer that is used twice
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.b(self.act(self.a(x))))  # !


torch.manual_seed(0)
net = Net()
x = torch.randn(40, 2)
y = x.sum(1, keepdim=True)
opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# counts are never negative
torch.manual_seed(0)
x, y = torch.randn(40, 2), torch.randint(0, 4, (40, 1)).float()
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())
with torch.no_grad():
    net[2].bias.fill_(1.0)
opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# between layers
torch.manual_seed(0)
x, y = torch.randn(40, 4), torch.randint(0, 3, (40,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
