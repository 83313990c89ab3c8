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
        )


ENTRY = FindingKind(
    "cut-by-detach",
    "The graph is cut by detach",
    "What comes out of detach() is a constant for autograd: nothing before it learns. Detach what "
    "you log or use as a target, never what the loss is computed from.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(8, 2)
y = torch.randn(8, 1)
first, second = nn.Linear(2, 4), nn.Linear(4, 1)
opt = optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for step in range(3):
    hidden = torch.relu(first(x)).detach()  # !
    loss = F.mse_loss(second(hidden), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """x = param(2.0)
y = x.detach() ** 2  # !
z = y * 3
z.backward()
""",
        """torch.manual_seed(0)
class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 2)
        self.dec = nn.Linear(2, 4)
    def forward(self, x):
        z = self.enc(x).detach()  # !
        return self.dec(z)
m = AE()
opt = optim.SGD(m.parameters(), lr=.1)
x = torch.randn(8, 4)
for _ in range(2):
    opt.zero_grad()
    loss = F.mse_loss(m(x), x)
    loss.backward()
    opt.step()
""",
        """a = torch.tensor(3.0, requires_grad=True)
b = a * 2
c = b.detach()  # !
d = c ** 2
d.backward()
""",
        """torch.manual_seed(0)
m = nn.Linear(3, 1)
opt = optim.SGD(m.parameters(), lr=0.1)
loss_fn = nn.MSELoss()
for i in range(2):
    loss = loss_fn(m(torch.randn(4, 3)), torch.randn(4, 1)).detach()  # !
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """torch.manual_seed(0)
m = nn.Linear(3, 1)
opt = optim.SGD(m.parameters(), lr=0.1)
for i in range(2):
    pred = m(torch.randn(4, 3))
    loss = F.mse_loss(pred.detach(), torch.randn(4, 1))  # !
    loss.requires_grad = True
    opt.zero_grad()
    loss.backward()
    opt.step()
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
        """# actor and critic with a baseline
torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
opt = optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for step in range(3):
    state = torch.randn(8, 4)
    logits, value = actor(state), critic(state).squeeze(1)
    dist = torch.distributions.Categorical(logits=logits)
    action = dist.sample()
    reward = (action == 0).float()
    advantage = reward - value.detach()
    loss = -(dist.log_prob(action) * advantage).mean() + F.mse_loss(value, reward)
    opt.zero_grad()
    loss.backward()
    opt.step()
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
