"""A model evaluated while in training mode."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.scopes import callers
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
    return {c.id for c in calls if c not in before and modes.call_line(evidence, c) in lines}


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
    return FoundCase(program.line(line), message, (), _fix(evidence, line, name))


def _fix(evidence: Evidence, line: int, name: str) -> str:
    """Switch to evaluation before the call, and back to training if it goes on."""
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
    if loop is None or not any(
        loop.lineno <= s.line <= (loop.end_lineno or 0) for s in evidence.tape.steps
    ):
        first = loop.lineno if loop is not None else line
        return program.inserted(first, f"{name}.eval()")
    fixed = program.inserted(line, f"{name}.eval()")
    return type(program)(fixed).inserted(loop.body[0].lineno, f"{name}.train()") if fixed else ""


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
