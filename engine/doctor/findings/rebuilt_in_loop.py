"""A model or an optimizer that each iteration of the training loop creates again."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_calls
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names
from gradscribe.engine.protocol.tape import Step

_ROUNDS = 3


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield loops in which each iteration creates an optimizer that steps once."""
    program = evidence.program
    for owner, (line, call) in optimizer_calls(program).items():
        loop = program.loop(line)
        steps = [step for step in evidence.tape.steps if _is_of(program, step, owner, loop)]
        if not isinstance(loop, ast.For) or len(steps) < _ROUNDS:
            continue
        if program.statement(line) not in loop.body or _varies(loop):
            continue
        made = [evidence.tape.held[step.held] for step in steps if step.held >= 0]
        if len(made) < _ROUNDS:
            continue
        fresh = not set.intersection(*map(set, made))
        if not fresh and not all(step.memory for step in steps):
            continue  # Plain SGD has no state that could be lost.
        lines = [line]
        if fresh:
            lines = [*_makers(loop, call), line]
        what = "its parameters are new ones, too" if fresh else "what it keeps is lost each time"
        message = (
            f"{owner} is made anew in each round: {len(steps)} optimizers took one step each, and "
            f"{what}"
        )
        related = tuple(program.line(step) for step in lines[:-1])
        yield FoundCase(program.line(line), message, related, _moved(program, loop, lines))


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


def _makers(loop: ast.For, call: ast.Call) -> list[int]:
    """Return the lines of the loop that create the optimizer's arguments, in order."""
    wanted, lines = names(call), list[int]()
    for statement in reversed(loop.body):
        if statement.lineno >= call.lineno or not isinstance(statement, ast.Assign):
            continue
        if wanted & {ast.unparse(target) for target in statement.targets}:
            lines.insert(0, statement.lineno)
            wanted |= names(statement.value)
    return lines


def _moved(program: ProgramTree, loop: ast.For, lines: list[int]) -> str:
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


ENTRY = FindingKind(
    "rebuilt-in-loop",
    "Made anew in each round",
    "A model that is built inside the training loop forgets what it learned with every round, and "
    "an optimizer its averages and momentum. Build both once, above the loop.",
    detect,
    severity="hint",
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
    ),
)
