"""A parameter's only path to the loss leads through detach."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import call_at, without_requires_grad
from gradscribe.engine.doctor.program_tree import receiver
from gradscribe.engine.protocol.tape import Op


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
        use = _use_of_its_own(evidence, cut)
        if use is not None:
            yield _found_use(evidence, cut, use, message)
            continue
        yield FoundCase(
            cut.op.place,
            f"{message}: detach on line {cut.op.place.line} is on its only way there",
            (cut.leaves[0].place, last),
            fix,
            is_hint=not cut.is_wanted,
        )


def _use_of_its_own(evidence: Evidence, cut: cuts.Cut) -> Op | None:
    """Return the op that takes a detached value towards the leaf's own loss, if others need it.

    A discriminator's loss needs the detached value, the generator's must not take it.
    """
    own = evidence.dependencies(cuts.own_roots(evidence, cut.leaves[0]))
    value = cut.op.outputs[0]
    users = [evidence.tape.ops[index] for index in evidence.users.get(value, ())]
    used = [op for op in users if any(out in evidence.root_dependencies for out in op.outputs)]
    mine = [op for op in used if any(out in own for out in op.outputs)]
    named = bool(evidence.values[value].name)
    return mine[0] if named and own and mine and len(mine) < len(used) else None


def _found_use(evidence: Evidence, cut: cuts.Cut, use: Op, message: str) -> FoundCase:
    program, name = evidence.program, evidence.values[cut.op.outputs[0]].name
    call = call_at(program, cut.op.place, "detach", "detach_")
    owner = receiver(call) if call is not None else None
    taken = [
        node
        for node in program.find(ast.Name)
        if node.id == name and isinstance(node.ctx, ast.Load) and node.lineno == use.place.line
    ]
    fix = ""
    if owner is not None and len(taken) == 1:
        fix = program.replaced((taken[0], program.source(owner)))
    return FoundCase(
        use.place,
        f"{message}: {name} on line {use.place.line} was detached on line {cut.op.place.line}",
        (cut.op.place, cut.leaves[0].place),
        fix,
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
        """# the discriminator needs the detached sample, the generator must not take it
torch.manual_seed(0)
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
og, od = optim.SGD(G.parameters(), lr=0.1), optim.SGD(D.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    fake = G(torch.randn(8, 3))
    still = fake.detach()
    d_loss = bce(D(torch.randn(8, 2) + 2), torch.ones(8, 1)) + bce(D(still), torch.zeros(8, 1))
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = bce(D(still), torch.ones(8, 1))  # !
    og.zero_grad()
    g_loss.backward()
    og.step()
""",
        """# the generator's own detach is wrong, the discriminator's is right
torch.manual_seed(0)
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
og, od = optim.SGD(G.parameters(), lr=0.1), optim.SGD(D.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    fake = G(torch.randn(8, 3))
    d_loss = bce(D(torch.randn(8, 2) + 2), torch.ones(8, 1))
    d_loss = d_loss + bce(D(fake.detach()), torch.zeros(8, 1))
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = bce(D(fake.detach()), torch.ones(8, 1))  # !
    og.zero_grad()
    g_loss.backward()
    og.step()
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
