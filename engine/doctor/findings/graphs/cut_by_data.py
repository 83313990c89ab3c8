"""A parameter's only path to the loss leads through .data."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each ``.data`` that cuts wanted leaves off."""
    program = evidence.program
    for cut, message in cuts.cuts_of_kind(evidence, "data"):
        fields = [n for n in program.find(ast.Attribute, cut.op.place) if n.attr == "data"]
        fix = program.replaced((fields[0], program.source(fields[0].value))) if fields else ""
        last = evidence.pass_place(-1)
        text = f"{message}: .data on line {cut.op.place.line} is on its only way there"
        yield FoundCase(
            cut.op.place, text, (cut.leaves[0].place, last), fix, is_hint=not cut.is_wanted
        )


ENTRY = FindingKind(
    "cut-by-data",
    "The graph is cut by .data",
    "x.data is x without its history, as detach() gives it, and without the check that finds "
    "in-place changes. Nothing before it learns.",
    detect,
    sick=(
        """x = param(2.0)
w = param(3.0)
y = x.data * w  # !
y.backward()
print(x.grad, w.grad)
""",
    ),
    healthy=(
        """# weights copied through data
a, b = nn.Linear(2, 2), nn.Linear(2, 2)
for p, q in zip(a.parameters(), b.parameters()):
    p.data.copy_(q.data)
a(torch.ones(1, 2)).sum().backward()
""",
        """# a moving average of the weights
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
average = [p.data.clone() for p in model.parameters()]
opt = optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for a, p in zip(average, model.parameters()):
        a.mul_(0.9).add_(p.data, alpha=0.1)
""",
    ),
)
