"""A model evaluated while in training mode."""

import ast
from collections.abc import Iterator, Mapping

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.doctor.scopes import callers, enclosing_function
from gradscribe.engine.protocol.tape import Call, Op


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield evaluations after updates whose layers still act as in training."""
    if not evidence.tape.passes:
        return
    within, made = modes.inside(evidence), modes.results(evidence)
    trained, begun = evidence.root_dependencies, _first_update(evidence)
    dropping, broken_off = _dropping(evidence), _broken_off(evidence)
    for call in modes.outer_calls(evidence):
        values = made.get(call.id, [])
        if call.id in broken_off:
            continue
        if not values or any(v in trained for v in values) or not _follows(evidence, call, begun):
            continue
        moody = [c for c in within.get(call.id, ()) if modes.is_mode_dependent(c) and c.training]
        if moody and not _on_purpose(evidence, call) and not _samples(evidence, call):
            yield _case(evidence, call, f"{moody[0].name} ({moody[0].kind})")
        elif not call.training:
            yield from _functional(evidence, call, dropping)


def _broken_off(evidence: Evidence) -> set[int]:
    """Return the calls after the last pass of a program that an error ended, on lines that train.

    Their backward would have come.
    """
    if evidence.tape.error is None:
        return set()
    last = max(evidence.pass_at.values(), default=0)
    calls = modes.outer_calls(evidence)
    before = [c for c in calls if evidence.call_at.get(c.id, 0) < last]
    lines = {modes.call_line(evidence, call) for call in before}
    known = {c.id for c in before}
    return {c.id for c in calls if c.id not in known and modes.call_line(evidence, c) in lines}


def _follows(evidence: Evidence, call: Call, begun: int | None) -> bool:
    """Return whether a call is later than the position ``begun``."""
    return begun is not None and evidence.call_at.get(call.id, 0) > begun


def _first_update(evidence: Evidence) -> int | None:
    """Return the position at which a parameter was first updated; None if none was."""
    first = min(evidence.step_at.values(), default=None)
    if first is None:
        updates = [
            m.position
            for t in evidence.updated
            for m in evidence.leaf_events[t]
            if m.kind == "update"
        ]
        first = min(updates, default=None)
    return first


def _on_purpose(evidence: Evidence, call: Call) -> bool:
    """Return whether the program calls train() between the last update and this call."""
    line = modes.call_line(evidence, call)
    updates = [m.position for ms in evidence.leaf_events.values() for m in ms if m.kind == "update"]
    before = [at for at in updates if at < evidence.call_at[call.id]]
    last = evidence.tape.events[max(before)].line if before else 0
    return any(last < at <= line for at in modes.mode_lines(evidence, "train"))


def _samples(evidence: Evidence, call: Call) -> bool:
    """Return whether a generator draws samples from noise, and nothing is computed from them."""
    ops = [op for op in evidence.tape.ops if op.call is not None]
    own = [
        o
        for o in ops
        if (outer := evidence.outermost_call_of(o)) is not None and outer.id == call.id
    ]
    if not _generates(evidence, call):
        return False
    given = [i for op in own[:1] for i in op.inputs if evidence.values[i].role != "parameter"]
    inside = {op.id for op in own}
    if not given or any(evidence.values[i].maker not in _NOISE for i in given):
        return False
    stack, seen = [o for op in own for o in op.outputs], set[int]()
    while stack:
        value = stack.pop()
        for index in () if value in seen else evidence.users.get(value, ()):
            op = evidence.tape.ops[index]
            if op.id not in inside and len(set(op.inputs)) > 1:
                return False
            stack.extend(op.outputs)
        seen.add(value)
    return True


def _generates(evidence: Evidence, call: Call) -> bool:
    """Return whether another model gets this one's result in training, as a critic does."""
    made = modes.results(evidence)
    own = {c.id for c in evidence.tape.calls if c.module == call.module and c.parent is None}
    stack = [v for number in own for v in made.get(number, ())]
    seen = set[int]()
    while stack:
        value = stack.pop()
        for index in () if value in seen else evidence.users.get(value, ()):
            op = evidence.tape.ops[index]
            outer = evidence.outermost_call_of(op)
            if outer is not None and outer.id not in own and outer.parameters:
                return True
            stack.extend(op.outputs)
        seen.add(value)
    return False


_NOISE = frozenset("randn rand normal randn_like rand_like".split())


def _dropping(evidence: Evidence) -> dict[int, Op]:
    """Return the first op in each outermost call that drops values whatever its mode is."""
    found: dict[int, Op] = {}
    for op in evidence.tape.ops:
        if _is_always_on(op):
            outer = evidence.outermost_call_of(op)
            if outer is not None:
                found.setdefault(outer.id, op)
    return found


def _functional(evidence: Evidence, call: Call, dropping: dict[int, Op]) -> Iterator[FoundCase]:
    op = dropping.get(call.id)
    if op is None:
        return
    program = evidence.program
    message = (
        f"{op.op} on line {op.place.line} drops values although {call.name} is in "
        f"evaluation mode: its training flag is not passed on"
    )
    text = _call_text(evidence, op)
    fix = program.replaced((op.place, text)) if text else ""
    yield FoundCase(op.place, message, (program.line(modes.call_line(evidence, call)),), fix)


def _is_always_on(op: Op) -> bool:
    return op.op.startswith("dropout") and any(
        a.keyword == "training" and a.text == "True" for a in op.args
    )


def _call_text(evidence: Evidence, op: Op) -> str:
    place = op.place
    if place.line != place.end_line or not place.line:
        return ""
    text = evidence.program.lines[place.line - 1][place.column : place.end_column]
    return text[:-1] + ", training=self.training)" if text.endswith(")") else ""


def _case(evidence: Evidence, call: Call, layer: str) -> FoundCase:
    line, program = modes.call_line(evidence, call), evidence.program
    name = modes.module_expression(evidence, call)
    message = f"{call.name} is still in training mode here; {layer} acts as in training"
    return FoundCase(program.line(line), message, (), _fix(evidence, call, line, name))


def _fix(evidence: Evidence, call: Call, line: int, name: str) -> str:
    """Switch to evaluation before the call, and back to training before it goes on."""
    program = evidence.program
    if not name:
        return ""
    statement = program.statement(line)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.Lambda):
        # A lambda's code runs where it is called.
        calls = [c for c in callers(program, value.body) if c.lineno > line]
        line = calls[0].lineno if calls else line
    loop = program.loop(line)
    steps = {s.line for s in evidence.tape.steps}
    if loop is not None and not any(loop.lineno <= s <= (loop.end_lineno or 0) for s in steps):
        line = loop.lineno
    edits = {line: f"{name}.eval()"}
    trained = _next_training(evidence, call)
    if trained is not None:
        again = modes.module_expression(evidence, trained)
        at = _before_training(program, modes.call_line(evidence, trained), line, again)
        if not again or at in edits:
            return ""
        edits[at] = f"{again}.train()"
    return _inserted(program, edits)


def _inserted(program: ProgramTree, edits: Mapping[int, str]) -> str:
    """Return the program with a line inserted before each of some lines; empty if one cannot be."""
    for at in sorted(edits, reverse=True):
        text = program.inserted(at, edits[at])
        if not text:
            return ""
        program = ProgramTree(text)
    return "\n".join(program.lines)


def _next_training(evidence: Evidence, call: Call) -> Call | None:
    """Return a later call of the same module that training uses, after any round of evaluation."""
    made, line = modes.results(evidence), modes.call_line(evidence, call)
    evaluated = False
    for other in modes.outer_calls(evidence):
        if other.module != call.module:
            continue
        # Training uses the running statistics that the evaluation itself has changed.
        if modes.call_line(evidence, other) == line:
            evaluated = True
        elif evaluated and any(v in evidence.root_dependencies for v in made.get(other.id, ())):
            return other
    return None


def _before_training(program: ProgramTree, line: int, evaluation: int, name: str) -> int:
    """Return a line that is reached between an evaluation and the training call on ``line``.

    That is before the outermost loop that does not evaluate, else in the loop that does.
    """
    root, at = name.partition(".")[0], line
    loop = program.loop(line)
    while loop is not None:
        end = loop.end_lineno or loop.lineno
        if any(loop.lineno <= bound <= end for bound, _ in program.bindings.get(root, ())):
            return at
        if _evaluates(program, loop, evaluation):
            return loop.body[0].lineno
        at = loop.lineno
        loop = program.loop(at)
    return at


def _evaluates(program: ProgramTree, loop: ast.For | ast.While, line: int) -> bool:
    """Return whether a loop contains a line, or calls the function that does."""
    if loop.lineno <= line <= (loop.end_lineno or loop.lineno):
        return True
    statement = program.statement(line)
    around = enclosing_function(program, statement) if statement is not None else None
    if not isinstance(around, ast.FunctionDef):
        return False
    return any(isinstance(n, ast.Call) and called_name(n) == around.name for n in ast.walk(loop))


ENTRY = FindingKind(
    "train-in-evaluation",
    "Evaluation in training mode",
    "In training mode Dropout removes values at random and BatchNorm uses (and changes by) the "
    "batch at hand, so the same input gives other results each time. Call eval() first.",
    detect,
    setup_fix=SetupFix(mistake="validate_in_train_mode"),
    sick=(
        """torch.manual_seed(0)
x = torch.randn(16, 4)
y = torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    test = model(x[:4])  # !
print(test.mean())
""",
        """# the evaluation is in a function, and training goes on after it
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), lr=0.01)
def train_epoch(net):
    for i in range(0, 16, 4):
        loss = F.mse_loss(net(x[i : i + 4]), y[i : i + 4])
        opt.zero_grad()
        loss.backward()
        opt.step()
def evaluate(m):
    with torch.no_grad():
        return F.mse_loss(m(x[16:]), y[16:]).item()  # !
for epoch in range(3):
    train_epoch(net)
    print(evaluate(net))
""",
        """# the evaluation has a loop of its own within the epoch
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    for i in range(0, 16, 4):
        loss = F.mse_loss(model(x[i : i + 4]), y[i : i + 4])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        for i in range(16, 32, 4):
            print(F.mse_loss(model(x[i : i + 4]), y[i : i + 4]).item())  # !
""",
        """# a method validates after each epoch of another
torch.manual_seed(0)
class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))
        self.opt = optim.Adam(self.model.parameters(), lr=0.01)
    def fit(self, x, y, xv, yv):
        for epoch in range(3):
            self.opt.zero_grad()
            loss = ((self.model(x) - y) ** 2).mean()
            loss.backward()
            self.opt.step()
            print(loss.item(), self.validate(xv, yv))
    @torch.no_grad()
    def validate(self, x, y):
        out = self.model(x)  # !
        return ((out - y) ** 2).mean().item()
t = Trainer()
t.fit(torch.randn(16, 4), torch.randn(16, 1), torch.randn(8, 4), torch.randn(8, 1))
""",
    ),
    healthy=(
        """# dropout, in batches
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.1), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(9, 3).split(4):
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# Monte Carlo dropout, asked for
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
opt = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
model.train()
with torch.no_grad():
    samples = torch.stack([model(x) for _ in range(5)])
print(samples.std(dim=0).mean())
""",
        """# layers that do the same in both modes
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(F.mse_loss(model(x), y))
""",
    ),
    spoils_training=False,
)
