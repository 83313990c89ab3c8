"""A model or layer that was replaced after the optimizer was created."""

from collections.abc import Iterator

from gradscribe.engine.doctor import parameters
from gradscribe.engine.doctor.cuts import leaf_names
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.protocol.tape import Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the line that replaced the optimizer's parameters."""
    found: dict[tuple[int, int], list[Value]] = {}
    for leaf in parameters.untrained(evidence).values():
        made, replaced = parameters.rebuild_lines(evidence, leaf)
        if replaced:
            found.setdefault((made, replaced), []).append(leaf)
    program = evidence.program
    for (made, replaced), leaves in found.items():
        message = (
            f"Line {replaced} replaces what the optimizer of line {made} was given: "
            f"{leaf_names(tuple(leaves))} never change: the steps go to the old parameters"
        )
        yield FoundCase(
            program.line(replaced), message, (program.line(made),), _fix(evidence, made, replaced)
        )


def _fix(evidence: Evidence, made: int, replaced: int) -> str:
    """Move the optimizer's line below the replacement."""
    program = evidence.program
    statement, other = program.statement(made), program.statement(replaced)
    if statement is None or other is None or program.indent(statement) != program.indent(other):
        return ""
    text = program.source(statement)
    if "\n" in text:
        return ""
    moved = program.inserted(replaced, text, after=True)
    if not moved:
        return ""
    return type(program)(moved).without(made)


ENTRY = FindingKind(
    "optimizer-before-rebuild",
    "The optimizer holds the old parameters",
    "An optimizer keeps the parameters themselves, not the model's name. Build and change the "
    "model first, and make the optimizer last.",
    detect,
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 2)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
model[2] = nn.Linear(8, 2)  # !
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# moved in place, optimizer made last
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 2)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model[2] = nn.Linear(8, 2)
opt = optim.SGD(model.parameters(), lr=0.1)
model = model.to("cpu")
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a new model gets a new optimizer
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for seed in range(2):
    torch.manual_seed(seed)
    model = nn.Linear(4, 1)
    opt = optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    ),
)
