"""An evaluation that records an unused graph."""

from collections.abc import Iterator

from gradscribe.engine.doctor import cuts, modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import CUTS, FindingKind, FoundCase, SetupFix
from gradscribe.engine.protocol.tape import Call

_LOSSES = ("loss", "entropy")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of a trained model whose graph is used by no backward pass."""
    if not evidence.tape.passes or not evidence.updated:
        return
    made = modes.results(evidence)
    trained, seen = evidence.root_dependencies, dict[int, int]()
    idle: list[tuple[Call, list[int]]] = []
    for call in modes.outer_calls(evidence):
        values = made.get(call.id, [])
        recorded = [v for v in values if evidence.values[v].requires_grad]
        if recorded and evidence.creator(recorded[-1]) and not any(v in trained for v in values):
            line = modes.call_line(evidence, call)
            seen[line] = seen.get(line, 0) + 1
            idle.append((call, values))
    found = set[int]()
    for call, values in idle:
        line = modes.call_line(evidence, call)
        # A loop's calls are a single case, which takes a look at the whole tape.
        if line not in found and _evaluates(evidence, call, values, seen[line]):
            cases = list(_case(evidence, call, values))
            found.update(line for _ in cases)
            yield from cases


def _evaluates(evidence: Evidence, call: Call, values: list[int], times: int) -> bool:
    """Return whether a call is an evaluation rather than an inspection of the model."""
    if "loss" in call.name.lower() or "criterion" in call.name.lower() or call.parameters == 0:
        return False
    if not call.training or times > 1:
        return True
    users = [evidence.tape.ops[i] for v in values for i in evidence.users.get(v, ())]
    return any(word in op.op for op in users for word in _LOSSES)


def _case(evidence: Evidence, call: Call, values: list[int]) -> Iterator[FoundCase]:
    program, line = evidence.program, modes.call_line(evidence, call)
    nodes = [n for n in evidence.tape.nodes if n.op is not None]
    made = {evidence.values[v].op for v in values}
    own = [n for n in nodes if n.op in made]
    if not own:
        return
    size = sum({s.storage: s.size for n in own for s in n.kept}.values())
    message = (
        f"{call.name} records {len(own)} backward nodes here, which keep {size:,} bytes, "
        f"and no backward ever uses them"
    )
    yield FoundCase(program.line(line), message, (), _fix(evidence, line))


def _fix(evidence: Evidence, line: int) -> str:
    """Wrap the statement, or the loop that evaluates, in no_grad."""
    program = evidence.program
    if cuts.block_without_grad(program, line) is not None:
        return ""
    statement = program.statement(line)
    if statement is None:
        return ""
    loop = program.loop(line)
    if loop is not None and not _trains(evidence, loop.lineno, loop.end_lineno or line):
        return program.wrapped(loop.lineno, loop.end_lineno or line, "with torch.no_grad():")
    last = statement.end_lineno or line
    siblings = [s for s in program.siblings(statement) if s.lineno > last] if loop is None else []
    for sibling in siblings:
        # Statements computed from the result belong inside as well.
        if _trains(evidence, sibling.lineno, sibling.end_lineno or sibling.lineno):
            break
        text = program.source(sibling)
        if text.startswith(("print", "assert", "import", "from", "def ", "class ")):
            break
        last = sibling.end_lineno or sibling.lineno
    return program.wrapped(statement.lineno, last, "with torch.no_grad():")


def _trains(evidence: Evidence, first: int, last: int) -> bool:
    lines = [p.line for p in evidence.tape.passes] + [s.line for s in evidence.tape.steps]
    return any(first <= line <= last for line in lines)


ENTRY = FindingKind(
    "graph-in-evaluation",
    "Evaluation records a graph",
    "Outside training nobody calls backward, so what autograd saves costs memory and time for "
    "nothing. Evaluate inside torch.no_grad(): eval() does not stop the recording.",
    detect,
    setup_fix=SetupFix(mistake="validate_with_grad"),
    sick=(
        """torch.manual_seed(0)
m = nn.Linear(4, 1)
opt = optim.SGD(m.parameters(), lr=0.01)
xv, yv = torch.randn(8, 4), torch.randn(8, 1)
for e in range(3):
    opt.zero_grad()
    loss = m(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    opt.step()
    val = ((m(xv) - yv) ** 2).mean()  # !
    print(e, val.item())
""",
    ),
    healthy=(
        """# one look at a new input
torch.manual_seed(0)
x, y = torch.randn(16, 1), torch.randn(16, 1)
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(model(torch.tensor([[4.0]])).item())
""",
        """# inference mode
torch.manual_seed(0)
x, y = torch.randn(16, 1), torch.randn(16, 1)
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.inference_mode():
        print(F.mse_loss(model(x), y).item())
""",
    ),
    follows=CUTS,
    spoils_training=False,
)
