"""Loss curves of long loops: those recorded in part have all steps, as those in full."""

import pytest

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.training import loss_curves
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run.run import execute

SLOW = """\
torch.manual_seed(0)
x = torch.linspace(-1, 1, 16).unsqueeze(1)
y = 3 * x + 1
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=RATE)
losses = []
for step in range(400):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
print(*losses)
"""


@pytest.mark.parametrize("rate", ["0.01", "1e-9", "1.04"])
def test_a_loop_in_part_has_the_curve_and_the_findings_of_one_in_full(rate):
    source = SLOW.replace("RATE", rate)
    part = execute(Run(1, source, full_events=400))
    full = execute(Run(1, source, full_events=0))
    assert any(event.kind == "gap" for event in part.events)
    (curve,) = loss_curves(Evidence(part, source))
    assert list(curve.losses) == [float(number) for number in full.stdout.split()]
    of_rate = [
        [f.message.split(";")[0] for f in tape.findings if f.id.startswith("learning-rate")]
        for tape in (part, full)
    ]
    assert of_rate[0] == of_rate[1]
    assert bool(of_rate[0]) == (rate != "0.01")
