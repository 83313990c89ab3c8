"""A model, a layer or an optimizer that each step of the training creates again."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_calls
from gradscribe.engine.doctor.modes import call_line
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names
from gradscribe.engine.doctor.scopes import (
    arguments_for,
    callers,
    enclosing_function,
    names_bound_in,
)
from gradscribe.engine.protocol.tape import Call, Place, Step

_ROUNDS = 3


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield optimizers that step once, or layers that are called once, and are then made anew."""
    yield from _in_loops(evidence)
    yield from _in_functions(evidence)
    yield from _layers(evidence)


def _in_loops(evidence: Evidence) -> Iterator[FoundCase]:
    program = evidence.program
    for owner, (line, call) in optimizer_calls(program).items():
        loop = program.loop(line)
        steps = [step for step in evidence.tape.steps if _is_of(program, step, owner, loop)]
        if loop is None or len(steps) < _ROUNDS or program.statement(line) not in loop.body:
            continue
        made = [evidence.tape.held[step.held] for step in steps if step.held >= 0]
        if len(made) < _ROUNDS:
            continue
        fresh = not set.intersection(*map(set, made))
        if fresh and (not isinstance(loop, ast.For) or _varies(loop)):
            continue
        if not fresh and not _loses_state(steps):
            continue
        lines = [line]
        if fresh:
            lines = [*_makers(loop, call), line]
        what = "its parameters are new ones, too" if fresh else "what it keeps is lost each time"
        message = (
            f"{owner} is made anew in each round: {len(steps)} optimizers took one step each, and "
            f"{what}"
        )
        related = tuple(program.line(step) for step in lines[:-1])
        fix = _moved(program, loop, lines)
        yield FoundCase(program.line(line), message, related, fix, is_hint=True)


def _loses_state(steps: list[Step]) -> bool:
    """Return whether optimizers of the same rate had averages or momentum, as plain SGD has not."""
    return all(step.memory for step in steps) and len({step.lr for step in steps}) == 1


def _is_of(program: ProgramTree, step: Step, owner: str, loop: ast.stmt | None) -> bool:
    calls = [c for c in program.calls("step") if c.lineno == step.line]
    return any(ast.unparse(c.func) == f"{owner}.step" for c in calls) and (
        program.loop(step.line) is loop
    )


def _varies(loop: ast.For) -> bool:
    """Return whether iterations differ on purpose: the counter is used, not only printed."""
    if not isinstance(loop.iter, ast.Call) or called_name(loop.iter) != "range":
        return True
    counted = names(loop.target)
    if not counted <= _COUNTERS:
        return True
    for statement in loop.body:
        calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
        if any(called_name(n) == "manual_seed" for n in calls):
            return True
        if counted & names(statement) and not any(called_name(n) == "print" for n in calls):
            return True
    return False


_COUNTERS = frozenset(
    "_ i j k n t e s step epoch iteration iter it batch round batch_idx ep".split()
)
"""Usual counters of training loops; others iterate over tasks, folds or trials."""


def _makers(loop: ast.For | ast.While, call: ast.Call) -> list[int]:
    """Return the lines of the loop that create the optimizer's arguments, in order."""
    wanted, lines = names(call), list[int]()
    for statement in reversed(loop.body):
        if statement.lineno >= call.lineno or not isinstance(statement, ast.Assign):
            continue
        if wanted & {ast.unparse(target) for target in statement.targets}:
            lines.insert(0, statement.lineno)
            wanted |= names(statement.value)
    return lines


def _moved(program: ProgramTree, loop: ast.For | ast.While, lines: list[int]) -> str:
    """Move statements of the loop's body above it."""
    moving = [program.statement(line) for line in lines]
    if any(
        statement not in loop.body or statement.lineno != statement.end_lineno
        for statement in moving
        if statement
    ):
        return ""
    texts = [program.source(statement) for statement in moving if statement is not None]
    if len(texts) == len(loop.body):
        return ""
    left = program
    for line in sorted(lines, reverse=True):
        left = ProgramTree(left.without(line))
    return left.inserted(loop.lineno, "\n".join(texts)) if left.text else ""


def _in_functions(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield optimizers that are created in a function which is called for each step or epoch."""
    program = evidence.program
    for owner, (line, call) in optimizer_calls(program).items():
        function, calls = enclosing_function(program, call), callers(program, call)
        statement = program.statement(line)
        if not isinstance(function, ast.FunctionDef) or len(calls) != 1:
            continue
        loop = program.loop(calls[0].lineno)
        if statement not in function.body or loop is None:
            continue
        inside = range(function.lineno, (function.end_lineno or 0) + 1)
        steps = [s for s in evidence.tape.steps if s.line in inside and s.held >= 0]
        made = _makings(evidence, steps, inner=bool(steps and program.loop(steps[0].line)))
        if made < _ROUNDS:
            continue
        fresh = not set.intersection(*(set(evidence.tape.held[s.held]) for s in steps))
        if fresh and (not isinstance(loop, ast.For) or _varies(loop) or _is_copied(function)):
            continue
        if not fresh and not _loses_state(steps):
            continue
        lost = "its parameters are new ones, too" if fresh else "what it keeps is lost each time"
        message = (
            f"{owner} is made anew in each call of {function.name}: {made} optimizers took "
            f"{len(steps)} steps, and {lost}"
        )
        fix = "" if fresh else _moved_out(program, function, calls[0], owner, line)
        why = _PASS if fresh else ""
        related = (program.line(calls[0].lineno), program.line(steps[0].line))
        yield FoundCase(program.line(line), message, related, fix, why, is_hint=True)


_PASS = "Make model and optimizer once, before the training loop, and pass them to the function"


def _makings(evidence: Evidence, steps: list[Step], *, inner: bool) -> int:
    """Return how many optimizers took steps: for several steps each, their counters say it."""
    if not inner:
        return len(steps)
    snapshots = evidence.tape.snapshots
    counts = [
        next((snapshots[at].item() for _, name, at in s.memory if name == "step" and at), None)
        for s in steps
    ]
    return counts.count(1.0)


def _is_copied(function: ast.FunctionDef) -> bool:
    """Return whether a function starts from a copy, saved parameters or a seed on purpose."""
    calls = {called_name(n) for n in ast.walk(function) if isinstance(n, ast.Call)}
    return bool(calls & {"deepcopy", "load_state_dict", "manual_seed", "clone"})


def _moved_out(
    program: ProgramTree, function: ast.FunctionDef, call: ast.Call, owner: str, line: int
) -> str:
    """Create the optimizer once: in ``__init__`` for a method, else before the training loop."""
    statement = program.statement(line)
    if not isinstance(statement, ast.Assign) or statement.lineno != statement.end_lineno:
        return ""
    text = _with_arguments(program, statement)
    left = ProgramTree(program.without(line))
    around = next(program.above(function), None)
    if isinstance(around, ast.ClassDef):
        return _into_init(program, around, function, statement, text)
    own = names_bound_in(function) | {a.arg for a in function.args.args}
    first = next((n for n in _outwards(program, call) if n in program.tree.body), None)
    if not text or first is None or names(ast.parse(text)) & (own - {owner}) or not left.text:
        return ""
    shift = 1 if first.lineno > line else 0
    return left.inserted(first.lineno - shift, text)


def _outwards(program: ProgramTree, node: ast.AST) -> Iterator[ast.stmt]:
    return (n for n in program.above(node) if isinstance(n, ast.stmt))


def _with_arguments(program: ProgramTree, statement: ast.stmt) -> str:
    """Return a statement's text with the caller's expressions for the function's parameters."""
    edits, start = [], program.place(statement)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            given = arguments_for(program, node)
            if given:
                place = program.place(node)
                edits.append((place.column, place.end_column, program.source(given[0])))
    text = program.lines[start.line - 1]
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text.strip()


def _into_init(
    program: ProgramTree,
    owner: ast.ClassDef,
    function: ast.FunctionDef,
    statement: ast.Assign,
    text: str,
) -> str:
    """Move a statement of a method to the end of ``__init__``, and its variable to ``self``."""
    makers = [n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    target = statement.targets[0]
    if not makers or function is makers[0] or not text:
        return ""
    value = ast.parse(text).body[0]
    local = names_bound_in(function) | {a.arg for a in function.args.args if a.arg != "self"}
    if not isinstance(value, ast.Assign) or names(value.value) & local:
        return ""
    edits: list[tuple[Place | ast.expr | ast.stmt, str]] = []
    if isinstance(target, ast.Name):
        text = f"self.{text}"
        edits = [
            (n, f"self.{target.id}")
            for n in ast.walk(function)
            if isinstance(n, ast.Name) and n.id == target.id and n is not target
        ]
    last = makers[0].body[-1]
    renamed = ProgramTree(program.replaced(*edits))
    left = ProgramTree(renamed.without(statement.lineno))
    shift = 1 if last.lineno > statement.lineno else 0
    return left.inserted(last.lineno - shift, text, after=True) if left.text else ""


class MadeLayer(NamedTuple):
    """A layer whose parameters are new in each call: where it is called and created."""

    calls: list[Call]
    parameters: set[int]
    line: int
    made: ast.Call


def _layers(evidence: Evidence) -> Iterator[FoundCase]:
    program = evidence.program
    for layer in made_layers(evidence):
        function = enclosing_function(program, layer.made)
        inside = f"call of {function.name}" if isinstance(function, ast.FunctionDef) else "round"
        name = program.source(layer.made)
        message = (
            f"{name} is made anew in each {inside}: {len(layer.calls)} layers were called once "
            f"each, with new parameters that no optimizer has"
        )
        fix = ""
        if isinstance(function, ast.FunctionDef):
            fix = _layer_in_init(program, function, layer)
        why = "" if fix else _ONCE
        related = (program.line(layer.line),)
        yield FoundCase(program.line(layer.made.lineno), message, related, fix, why)


_ONCE = "Make the layer once, before the training loop, and give its parameters to the optimizer"


def made_layers(evidence: Evidence) -> list[MadeLayer]:
    """Return layers that got gradients and no step, and are other objects in each call."""
    tape, program = evidence.tape, evidence.program
    groups: dict[tuple[int, str, str], list[Call]] = defaultdict(list)
    for call in tape.calls if tape.steps else ():
        if call.parameters:
            groups[call_line(evidence, call), call.name, call.kind].append(call)
    several = {
        key: calls
        for key, calls in groups.items()
        if len(calls) >= _ROUNDS and len({c.module for c in calls}) == len(calls)
    }
    found = []
    for (line, name, kind), calls in several.items():
        made = _maker(program, line, name, kind)
        if made is None:
            continue
        tensors = _leaves_in(evidence, {call.id for call in calls})
        if tensors and tensors <= evidence.received and not tensors & evidence.optimized:
            found.append(MadeLayer(calls, tensors, line, made))
    return found


def _leaves_in(evidence: Evidence, calls: set[int]) -> set[int]:
    """Return the leaves that ops inside module calls used."""
    tape, found = evidence.tape, set[int]()
    inside = dict[int, bool]()
    for call in tape.calls:  # Outer calls come before those within.
        inside[call.id] = call.id in calls or inside.get(
            -1 if call.parent is None else call.parent, False
        )
    for op in tape.ops:
        if op.call is not None and inside[op.call]:
            found |= {evidence.values[v].tensor for v in op.inputs}
    return found & set(evidence.leaves)


def _maker(program: ProgramTree, line: int, name: str, kind: str) -> ast.Call | None:
    """Return the call that creates a layer in the function, or the loop, that calls it."""
    statement = program.statement(line)
    if statement is None:
        return None
    function, loop = enclosing_function(program, statement), program.loop(line)
    for call in program.calls(kind):
        around = program.statement_of(call)
        named = isinstance(around, ast.Assign) and ast.unparse(around.targets[0]) == name
        if not named and around is not statement:
            continue
        if enclosing_function(program, call) is not function:
            continue
        if function is not None or (loop is not None and program.loop(call.lineno) is loop):
            return call
    return None


def _layer_in_init(program: ProgramTree, function: ast.FunctionDef, layer: MadeLayer) -> str:
    """Create a layer of ``forward`` in ``__init__`` instead, if it is made of constants."""
    owner = next(program.above(function), None)
    statement = program.statement_of(layer.made)
    local = names_bound_in(function) | {a.arg for a in function.args.args if a.arg != "self"}
    if not isinstance(owner, ast.ClassDef) or names(layer.made) & local or statement is None:
        return ""
    if isinstance(statement, ast.Assign) and statement.value is layer.made:
        return _into_init(program, owner, function, statement, program.source(statement))
    makers = [n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    name = f"self.{called_name(layer.made).lower()}"
    taken = any(ast.unparse(n) == name for n in program.find(ast.Attribute))
    if not makers or taken or makers[0].lineno > function.lineno:
        return ""
    edited = ProgramTree(program.replaced((layer.made, name)))
    text = f"{name} = {program.source(layer.made)}"
    return edited.inserted(makers[0].body[-1].lineno, text, after=True)


ENTRY = FindingKind(
    "rebuilt-in-loop",
    "Made anew in each round",
    "A model or layer that is built inside the training loop, or in a function called there, "
    "forgets what it learned each time, and an optimizer its averages and momentum. Build them "
    "once, above the loop.",
    detect,
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
for step in range(4):
    opt = optim.Adam(net.parameters(), lr=0.01)  # !
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
        """# an optimizer in a function
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))

def learn(model, a, b, rate=0.02):
    opt = optim.Adam(model.parameters(), lr=rate)  # !
    opt.zero_grad()
    err = F.mse_loss(model(a), b)
    err.backward()
    opt.step()
    return err.item()

x, y = torch.randn(8, 2), torch.randn(8, 1)
for epoch in range(6):
    last = learn(net, x, y)
print(last)
""",
        """# momentum in a method, for each batch
class Agent:
    def __init__(self):
        self.net = nn.Linear(3, 1)

    def learn(self, x, y):
        optimizer = optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)  # !
        loss = F.mse_loss(self.net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

torch.manual_seed(0)
agent = Agent()
for x, y in [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(4)]:
    agent.learn(x, y)
""",
        """# Adam for each epoch
torch.manual_seed(0)
net = nn.Linear(3, 1)
data = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(3)]

def train_epoch():
    adam = optim.Adam(net.parameters(), lr=0.01)  # !
    for x, y in data:
        adam.zero_grad()
        F.mse_loss(net(x), y).backward()
        adam.step()

for epoch in range(4):
    train_epoch()
""",
        """# a whole model in a function
def train_step(x, y):
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    opt = optim.SGD(net.parameters(), lr=0.01)  # !
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss.item()

torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(5):
    print(train_step(x, y))
""",
        """# a layer in forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 8)

    def forward(self, x):
        h = torch.relu(self.first(x))
        out = nn.Linear(8, 1)  # !
        return out(h)

torch.manual_seed(0)
net = Net()
opt = optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(4):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
        """# a layer that is called where it is made
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.enter = nn.Linear(3, width)

    def forward(self, x):
        x = nn.LayerNorm(self.width)(self.enter(x))  # !
        return x.tanh()

torch.manual_seed(0)
net = nn.Sequential(Block(6), nn.Linear(6, 1))
opt = optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(12, 3), torch.randn(12, 1)
for step in range(4):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
        """# a layer in the loop
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
first = nn.Linear(3, 8)
opt = optim.Adam(first.parameters(), lr=0.01)
for step in range(4):
    head = nn.Linear(8, 1)  # !
    opt.zero_grad()
    F.mse_loss(head(first(x).relu()), y).backward()
    opt.step()
""",
    ),
    healthy=(
        """# one step each of several rates
x, y = torch.ones(4, 1), torch.full((4, 1), 2.0)
for rate in (0.1, 0.2, 0.3):
    w = torch.zeros(1, 1, requires_grad=True)
    opt = optim.SGD([w], lr=rate)
    F.mse_loss(x @ w, y).backward()
    opt.step()
""",
        """# one step each of several seeds
x, y = torch.ones(4, 1), torch.full((4, 1), 2.0)
for seed in range(3):
    torch.manual_seed(seed)
    net = nn.Linear(1, 1)
    opt = optim.Adam(net.parameters(), lr=0.1)
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
        """# a model for each fold, trained in a function
def fit(x, y, steps=3):
    net = nn.Linear(2, 1)
    opt = optim.Adam(net.parameters(), lr=0.05)
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
    return net

torch.manual_seed(0)
x, y = torch.randn(12, 2), torch.randn(12, 1)
for fold in range(3):
    kept = torch.arange(12) % 3 != fold
    fit(x[kept], y[kept])
""",
        """# layers without parameters in forward, and a step of each of several rates in a function
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, x):
        return self.net(nn.Dropout(0.1)(nn.ReLU()(x)))

def once(model, rate):
    opt = optim.Adam(model.parameters(), lr=rate)
    F.mse_loss(model(x), y).backward()
    opt.step()
    opt.zero_grad()

torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = Net()
for rate in (0.1, 0.03, 0.01):
    once(net, rate)
""",
        """# how the gradient differs between random starts
torch.manual_seed(0)
x = torch.randn(8, 3)

def first_gradient():
    layer = nn.Linear(3, 1)
    layer(x).pow(2).mean().backward()
    return layer.weight.grad.norm().item()

print([first_gradient() for _ in range(4)])
""",
    ),
)
