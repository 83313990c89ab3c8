"""A loss whose gradient reaches another optimizer's parameters, as in a GAN without detach."""

import ast
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.errors import failed_node, matching_error
from gradscribe.engine.doctor.evidence import Evidence, LeafEvent
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_names, parenthesized
from gradscribe.engine.doctor.modes import call_line
from gradscribe.engine.doctor.program_tree import called_name, names
from gradscribe.engine.doctor.snapshot_stats import format_number, is_zero, norm
from gradscribe.engine.protocol.tape import Accumulation, Op, Place, Step

_OPPOSED = -0.2
"""Largest cosine of two gradients that count as opposed."""


class Rivals(NamedTuple):
    """Two passes whose gradients a step adds up, although another optimizer stepped in between."""

    first: int
    last: int
    rival: frozenset[int]
    """The parameters of the optimizer that stepped in between: what ``first`` is meant to train."""
    step: int
    at_once: bool = False
    """True if no step was between the passes: both optimizers step on what both losses left."""


class Sizes(NamedTuple):
    """Norms of the gradients of two passes and the cosine between them."""

    first: float
    last: float
    cosine: float


class Entry(NamedTuple):
    """A network's result at the entry of another network."""

    value: int
    op: Op
    place: Place
    argument: ast.expr | None


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield where a network's result enters the loss that is meant to train another network."""
    yield from _freed(evidence)
    found: dict[tuple[int, int, int], list[tuple[Rivals, list[Accumulation]]]] = {}
    for rivals, added in _rivals(evidence).items():
        passes = evidence.tape.passes
        held = evidence.tape.steps[rivals.step].held
        key = passes[rivals.first].line, passes[rivals.last].line, held
        found.setdefault(key, []).append((rivals, added))
    for rounds in found.values():
        sizes = _sizes(evidence, [a for _, added in rounds for a in added])
        if sizes is not None and _uses(evidence, rounds[0][0].last, rounds[0][0].rival):
            yield from _added_up(evidence, rounds[0][0], sizes)


def _rivals(evidence: Evidence) -> dict[Rivals, list[Accumulation]]:
    """Return what was added to the gradients that a step used, by the passes that sent it."""
    tape, found = evidence.tape, dict[Rivals, list[Accumulation]]()
    if len({step.held for step in tape.steps}) < 2:
        return found
    steps = sorted((at, number) for number, at in evidence.step_at.items())
    for tensor, moments in evidence.leaf_events.items():
        adds: list[LeafEvent] = []
        for moment in moments:
            if moment.kind == "add":
                adds.append(moment)
                continue
            if moment.kind == "update" and moment.ref >= 0 and len(adds) > 1:
                first, last = (tape.accumulations[adds[i].ref] for i in (0, -1))
                if first.run != last.run and not _is_left(evidence, first):
                    between = range(
                        bisect_right(steps, (adds[0].position, 0)),
                        bisect_left(steps, (adds[-1].position, 0)),
                    )
                    held = _others(evidence, tensor, [steps[i][1] for i in between])
                    at_once = not held and not between
                    if at_once:
                        held = _others(evidence, tensor, range(moment.ref - 1, moment.ref + 2))
                    if held:
                        key = Rivals(first.run, last.run, held, moment.ref, at_once)
                        found.setdefault(key, []).append(last)
            adds = []
    return found


def _others(evidence: Evidence, tensor: int, steps: Iterable[int]) -> frozenset[int]:
    """Return the parameters of the first of some steps that does not change a tensor."""
    tape = evidence.tape
    for number in steps:
        held = tape.steps[number].held if 0 <= number < len(tape.steps) else -1
        if held >= 0 and tensor not in tape.held[held]:
            return frozenset(tape.held[held])
    return frozenset()


def _is_left(evidence: Evidence, added: Accumulation) -> bool:
    """Return whether a gradient from before was there when a pass added its own."""
    before = added.before
    return before is not None and not is_zero(evidence.tape.snapshots[before])


def _sizes(evidence: Evidence, added: list[Accumulation]) -> Sizes | None:
    """Return the norms and the cosine of what was there and what was added, from norms alone."""
    squares = [0.0, 0.0, 0.0]
    for row in added:
        parts = (row.before, row.sent, row.after)
        for index, part in enumerate(parts):
            squares[index] += norm(evidence.tape.snapshots[part]) ** 2 if part is not None else 0.0
    before, sent, after = squares
    if not before or not sent or not math.isfinite(after):
        return None
    cosine = (after - before - sent) / 2 / math.sqrt(before * sent)
    return Sizes(math.sqrt(before / len(added)), math.sqrt(sent / len(added)), cosine)


def _uses(evidence: Evidence, run: int, tensors: frozenset[int]) -> bool:
    """Return whether the root of a pass was computed with parameters, detached or not."""
    inside = evidence.dependencies(evidence.tape.passes[run].roots)
    return any(evidence.values[v].tensor in tensors for v in inside)


def _added_up(evidence: Evidence, rivals: Rivals, sizes: Sizes) -> Iterator[FoundCase]:
    tape, program = evidence.tape, evidence.program
    step = tape.steps[rivals.step]
    mine = frozenset(tape.held[step.held])
    lines = tape.passes[rivals.first].line, tape.passes[rivals.last].line
    related = [program.line(line) for line in (*lines, step.line)]
    root = tape.passes[rivals.first].roots
    sent = f"backward on line {lines[0]} also sends a gradient to {_owner(evidence, mine)}"
    entry = _entry(evidence, root, mine, rivals.rival)
    if entry is not None and sizes.cosine <= _OPPOSED:
        message = (
            f"{_name(evidence, entry)} enters this loss with its graph, so {sent}, and the step on "
            f"line {step.line} uses it together with that of line {lines[1]}, which points the "
            f"other way (cosine {sizes.cosine:.2f})"
        )
        if rivals.at_once:
            if sizes.cosine <= _AT_ONCE:
                yield FoundCase(entry.place, message, tuple(related), "", _IN_TURN, is_hint=True)
            return
        shared = _goes_on(evidence, rivals.last, entry)
        fix = "" if shared else _detached(evidence, entry)
        yield FoundCase(entry.place, message, tuple(related), fix, _SHARED if shared else "")
    elif entry is None and _learns_from_constant(evidence, rivals):
        message = (
            f"{sent} (size {format_number(sizes.first)}), and nothing clears it before this "
            f"backward adds its own ({format_number(sizes.last)}): the step on line {step.line} "
            f"uses both"
        )
        owner = _optimizer(evidence, step)
        fix = program.inserted(lines[1], f"{owner}.zero_grad()") if owner else ""
        yield FoundCase(program.line(lines[1]), message, tuple(related), fix)


def _learns_from_constant(evidence: Evidence, rivals: Rivals) -> bool:
    """Return whether the last pass has the rival's results cut off, as a discriminator's has."""
    sent = (a.leaf for a in evidence.tape.accumulations if a.run == rivals.last)
    if any(evidence.values[leaf].tensor in rivals.rival for leaf in sent):
        return False
    mine = frozenset(evidence.tape.held[evidence.tape.steps[rivals.step].held])
    return (
        _entry(evidence, evidence.tape.passes[rivals.first].roots, rivals.rival, mine) is not None
    )


def _name(evidence: Evidence, entry: Entry) -> str:
    if entry.argument is not None:
        return evidence.program.source(entry.argument)
    return evidence.name(entry.value, "the result")


_AT_ONCE = -0.7
_IN_TURN = (
    "Train the networks in turn: the discriminator's loss on the detached sample, its backward and "
    "its step, then zero_grad, the generator's loss, its backward and its step"
)
_SHARED = (
    "Both losses use the same result of the discriminator: compute it from the detached sample for "
    "its own loss, and again from the sample itself for the generator's"
)


def _optimizer(evidence: Evidence, step: Step) -> str:
    owners = optimizer_names(evidence.program, step.line)
    return owners[0] if len(owners) == 1 and not any(c in owners[0] for c in "()[]") else ""


def _owner(evidence: Evidence, tensors: frozenset[int]) -> str:
    """Return the name of the module that has parameters, or the first parameter's own."""
    found = [leaf.name for tensor in tensors if (leaf := evidence.leaves.get(tensor)) is not None]
    owners = {
        ".".join(name.split(".")[: 2 if name.startswith("self.") else 1])
        for name in found
        if "." in name
    }
    if len(owners) == 1:
        return owners.pop()
    return min(filter(None, found), default="other parameters")


def _entry(
    evidence: Evidence,
    roots: tuple[int | None, ...],
    before: frozenset[int],
    behind: frozenset[int],
) -> Entry | None:
    """Return the first value made with the parameters ``before`` that meets those of ``behind``."""
    flags: dict[int, int] = {}
    for number in sorted(evidence.dependencies(roots)):
        value, op = evidence.values[number], evidence.creator(number)
        flag = (value.tensor in before) + 2 * (value.tensor in behind)
        for source in op.inputs if op is not None and value.requires_grad else ():
            flag |= flags.get(source, 0)
        flags[number] = flag
        if op is not None and flag == 3:
            entering = [v for v in op.inputs if flags.get(v) == 1 and evidence.creator(v)]
            if entering:
                return _at_call(evidence, entering[0], op)
    return None


def _at_call(evidence: Evidence, value: int, op: Op) -> Entry:
    """Return the entry at the outermost module call that a value went into."""
    around, maker = set[int](), evidence.creator(value)
    number = maker.call if maker is not None else None
    while number is not None:
        around.add(number)
        number = evidence.tape.calls[number].parent
    place, number = op.place, op.call
    while number is not None and number not in around:
        line = call_line(evidence, evidence.tape.calls[number])
        place, number = evidence.program.line(line), evidence.tape.calls[number].parent
    node = _argument(evidence, value, place)
    if node is not None:
        call = next(n for n in evidence.program.above(node) if isinstance(n, ast.Call))
        place = evidence.program.place(call)
    return Entry(value, op, place, node)


def _argument(evidence: Evidence, value: int, place: Place) -> ast.expr | None:
    """Return the argument of a call on a line that a value is given as, if it is certain."""
    before = evidence.before_pass_through(value)
    known = {evidence.values[v].name for v in (value, before)} - {""}
    made = evidence.creator(value)
    found, computed = list[ast.expr](), list[ast.expr]()
    statement = evidence.program.statement(place.line)
    for call in ast.walk(statement) if statement is not None else ():
        if not isinstance(call, ast.Call) or called_name(call) in _OTHERS:
            continue
        if not call.lineno <= place.line <= (call.end_lineno or call.lineno):
            continue
        for argument in [*call.args, *(k.value for k in call.keywords)]:
            if isinstance(argument, ast.Name) and argument.id in known:
                found.append(argument)
            elif isinstance(argument, ast.Call) and made is not None:
                is_made = evidence.program.place(argument) == made.place
                if is_made or ast.unparse(argument.func) in _modules_around(evidence, made):
                    found.append(argument)
                elif names(argument) & known and called_name(argument) != "detach":
                    computed.append(argument)
    several = found or computed
    return several[0] if len({ast.dump(a) for a in several}) == 1 else None


def _modules_around(evidence: Evidence, op: Op) -> set[str]:
    found, number = set[str](), op.call
    while number is not None:
        call = evidence.tape.calls[number]
        found |= {call.name, "self." + call.name.rpartition(".")[2]}
        number = call.parent
    return found


_FACTORIES = frozenset("randn rand zeros ones full tensor zeros_like ones_like".split())
_OTHERS = _FACTORIES | frozenset("len print cat stack mean sum log sigmoid size".split())


def _detached(evidence: Evidence, entry: Entry) -> str:
    program, node = evidence.program, entry.argument
    if node is None:
        return ""
    return program.replaced((node, f"{parenthesized(program, node)}.detach()"))


def _goes_on(evidence: Evidence, run: int, entry: Entry) -> bool:
    """Return whether another pass begins at what was computed from a value at its entry."""
    inside = evidence.dependencies(evidence.tape.passes[run].roots)
    return any(out in inside for out in entry.op.outputs)


def _freed(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the entry of a result whose graph the other network's loss has freed."""
    case = undetached(evidence)
    if case is not None:
        yield case


def undetached(evidence: Evidence) -> FoundCase | None:
    """Return the case in which a pass fails as an adversary's pass freed the graph it needs."""
    tape, node = evidence.tape, failed_node(evidence)
    error = matching_error(evidence, "backward through the graph a second time")
    if error is None or node is None or not tape.steps:
        return None
    runs = [e.run for e in tape.executions if e.node == node.id]
    freed = [run for run in runs if not tape.passes[run].retain_graph]
    rival = frozenset(t for s in tape.steps for t in tape.held[s.held] if s.held >= 0)
    if not freed or tape.passes[freed[0]].line == tape.passes[-1].line:
        return None
    sent = (a.leaf for a in tape.accumulations if a.run == freed[0])
    others = frozenset(evidence.values[leaf].tensor for leaf in sent) - rival
    entry = _entry(evidence, tape.passes[freed[0]].roots, others, rival) if others else None
    if entry is None:
        return None
    line = tape.passes[freed[0]].line
    message = (
        f"{_name(evidence, entry)} enters this loss with its graph, so backward "
        f"on line {line} goes through {_owner(evidence, others)}, too, and frees what backward on "
        f"line {error.place.line} needs"
    )
    related = (evidence.program.line(line), evidence.program.line(error.place.line))
    if _goes_on(evidence, len(tape.passes) - 1, entry):
        return FoundCase(entry.place, message, related, "", _SHARED)
    return FoundCase(entry.place, message, related, _detached(evidence, entry))


_NETS = """torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og = optim.Adam(G.parameters(), lr=1e-3)
od = optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(16, 1), torch.zeros(16, 1)
"""

ENTRY = FindingKind(
    "gan-detach",
    "A loss also trains its adversary",
    "Two networks that work against each other are trained by a loss each. A gradient that one "
    "loss leaves in the other's parameters is added to their own and cancels it. Give the "
    "discriminator fake.detach(), and clear a network's gradients right before its own backward.",
    detect,
    sick=(
        "# gradients of both losses add up\n"
        + _NETS
        + """for step in range(4):
    og.zero_grad()
    od.zero_grad()
    fake = G(torch.randn(16, 3))
    d_loss = bce(D(torch.randn(16, 2) + 2), one) + bce(D(fake), zero)  # !
    d_loss.backward()
    od.step()
    g_loss = bce(D(G(torch.randn(16, 3))), one)
    g_loss.backward()
    og.step()
""",
        "# the discriminator's pass frees the generator's graph\n"
        + _NETS
        + """for step in range(4):
    fake = G(torch.randn(16, 3))
    real_loss = bce(D(torch.randn(16, 2) + 2), one)
    fake_loss = bce(D(fake), zero)  # !
    od.zero_grad()
    (real_loss + fake_loss).backward()
    od.step()
    g_loss = bce(D(fake), one)
    og.zero_grad()
    g_loss.backward()
    og.step()
""",
        """# classes, a critic with a mean for a loss, and a sample that has no name
class Maker(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
    def forward(self, z):
        return self.net(z)

class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
    def forward(self, x):
        return self.net(x).mean()

torch.manual_seed(0)
maker, judge = Maker(), Judge()
opt_maker = optim.RMSprop(maker.parameters(), lr=1e-3)
opt_judge = optim.RMSprop(judge.parameters(), lr=1e-3)
real = torch.randn(32, 2) + 1
for step in range(4):
    opt_judge.zero_grad()
    opt_maker.zero_grad()
    critic = judge(maker(torch.randn(32, 3))) - judge(real)  # !
    critic.backward()
    opt_judge.step()
    loss = -judge(maker(torch.randn(32, 3)))
    loss.backward()
    opt_maker.step()
""",
        "# a kept graph, and both steps at the end\n"
        + _NETS
        + """for step in range(4):
    og.zero_grad()
    od.zero_grad()
    fake = G(torch.randn(16, 3))
    d_loss = bce(D(torch.randn(16, 2) + 2), one) + bce(D(fake), zero)  # !
    d_loss.backward(retain_graph=True)
    g_loss = bce(D(fake), one)
    g_loss.backward()
    od.step()
    og.step()
""",
        "# the generator first, and its gradient stays in the discriminator\n"
        + _NETS
        + """for step in range(4):
    og.zero_grad()
    od.zero_grad()
    fake = G(torch.randn(16, 3))
    g_loss = bce(D(fake), one)
    g_loss.backward()
    og.step()
    d_loss = bce(D(torch.randn(16, 2) + 2), one) + bce(D(fake.detach()), zero)
    d_loss.backward()  # !
    od.step()
""",
    ),
    healthy=(
        "# the discriminator gets the detached sample\n"
        + _NETS
        + """for step in range(4):
    og.zero_grad()
    od.zero_grad()
    fake = G(torch.randn(16, 3))
    d_loss = bce(D(torch.randn(16, 2) + 2), one) + bce(D(fake.detach()), zero)
    d_loss.backward()
    od.step()
    g_loss = bce(D(G(torch.randn(16, 3))), one)
    g_loss.backward()
    og.step()
""",
        "# the generator's gradient is cleared before its own pass\n"
        + _NETS
        + """for step in range(4):
    fake = G(torch.randn(16, 3))
    od.zero_grad()
    d_loss = bce(D(torch.randn(16, 2) + 2), one) + bce(D(fake), zero)
    d_loss.backward()
    od.step()
    og.zero_grad()
    g_loss = bce(D(G(torch.randn(16, 3))), one)
    g_loss.backward()
    og.step()
""",
        """# an encoder that two heads train in turn on purpose
torch.manual_seed(0)
encoder, first, second = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 1)
opt = optim.SGD(encoder.parameters(), lr=0.05)
heads = [optim.SGD(head.parameters(), lr=0.05) for head in (first, second)]
x = torch.randn(24, 4)
a, b = x.sum(1, keepdim=True), x[:, :1] - x[:, 1:2]
for step in range(4):
    for one in (opt, *heads):
        one.zero_grad()
    F.mse_loss(first(encoder(x)), a).backward()
    heads[0].step()
    F.mse_loss(second(encoder(x)), b).backward()
    heads[1].step()
    opt.step()
""",
    ),
)
