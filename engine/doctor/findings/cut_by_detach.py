"""A parameter's only path to the loss leads through detach."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import call_at, without_requires_grad
from gradscribe.engine.doctor.program_tree import receiver


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each detach that cuts wanted leaves off."""
    program = evidence.program
    for cut, message in cuts.cuts_of_kind(evidence, "detach"):
        call = call_at(program, cut.op.place, "detach", "detach_")
        owner = receiver(call) if call is not None else None
        fix = ""
        if call is not None and owner is not None:
            alone = isinstance(program.statement_of(call), ast.Expr)
            fix = (
                program.without(call.lineno)
                if alone
                else program.replaced((call, program.source(owner)))
            )
        fix = without_requires_grad(evidence, fix)
        last = evidence.pass_place(-1)
        yield FoundCase(
            cut.op.place,
            f"{message}: detach on line {cut.op.place.line} is on its only way there",
            (cut.leaves[0].place, last),
            fix,
            is_hint=not cut.is_wanted,
        )


ENTRY = FindingKind(
    "cut-by-detach",
    "The graph is cut by detach",
    "What comes out of detach() is a constant for autograd: nothing before it learns. Detach what "
    "you log or use as a target, never what the loss is computed from.",
    detect,
    sick=(
        """x = param(2.0)
y = x.detach() ** 2  # !
z = y * 3
z.backward()
""",
        """w = param(2.0)
v = param(1.0)
h = (w * 3).detach()  # !
loss = (h * v - 1) ** 2
loss.backward()
""",
    ),
    healthy=(
        """# truncated backpropagation through time
torch.manual_seed(0)
cell = nn.RNNCell(2, 4)
head = nn.Linear(4, 1)
opt = optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
xs, ys = torch.randn(6, 3, 2), torch.randn(6, 3, 1)
h = torch.zeros(3, 4)
for t in range(6):
    h = cell(xs[t], h)
    loss = F.mse_loss(head(h), ys[t])
    opt.zero_grad()
    loss.backward()
    opt.step()
    h = h.detach()
""",
        """# straight-through estimator
w = param([0.3, 0.8])
hard = torch.round(w)
y = w + (hard - w).detach()
loss = ((y - 1) ** 2).sum()
loss.backward()
print(w.grad)
""",
    ),
)
