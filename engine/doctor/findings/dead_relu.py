"""ReLU units that give 0 for every sample, and so get no gradient."""

from collections.abc import Iterator

import numpy as np

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.findings.relu_on_output import clipped_outputs
from gradscribe.engine.doctor.gradient_scale_fixes import with_relu
from gradscribe.engine.protocol.tape import Op

SAMPLES, SHARE = 4, 0.75
"""Minimum number of samples, and the share of dead units that is still normal."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield ReLUs most of whose units were dead in the last passes that trained them."""
    if training.blew_up(evidence):
        return
    last: dict[object, list[Op]] = {}
    # A ReLU on an output is a finding of its own, with a better fix.
    outputs = {clipped.maker.id for clipped in clipped_outputs(evidence)}
    for op in evidence.tape.ops:
        if op.id in outputs:
            continue
        is_relu = op.op in ("relu", "relu_") and op.phase == "forward" and op.node is not None
        if is_relu and op.outputs[0] in evidence.root_dependencies:
            last.setdefault((op.place, op.scope), []).append(op)
    for ops in last.values():
        counted = [_silent(evidence, op) for op in ops[-3:]]
        if any(c is None or c[0] <= SHARE * c[1] for c in counted):
            continue
        silent, units = counted[-1] or (0, 0)
        op = ops[-1]
        times = f" in the last {len(counted)} passes" if len(counted) > 1 else ""
        message = (
            f"{silent} of {units} units of {op.op}{f' in {op.scope}' if op.scope else ''} give 0 "
            f"for every sample{times}: they send back no gradient"
        )
        made = evidence.creator(op.inputs[0])
        fix = with_relu(evidence.program, leaky=True)
        yield FoundCase(op.place, message, (made.place,) if made is not None else (), fix)


def _silent(evidence: Evidence, op: Op) -> tuple[int, int] | None:
    """Return the number of units that were 0 for all samples, and of all units."""
    snapshot = evidence.snapshot(op.outputs[0])
    array = snapshot.array() if snapshot is not None else None
    if array is None or array.ndim < 2:
        return None
    axis = 1 if array.ndim == 4 else array.ndim - 1
    flat = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
    if flat.shape[0] < SAMPLES:
        return None
    return int((flat == 0).all(0).sum()), flat.shape[1]


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
        """# a relu of a short list
x = param([-2.0, -1.0, 0.0, 1.0])
y = torch.relu(x).sum()
y.backward()
""",
    ),
    follows=SPOILED,
)
