"""A part of the loss takes a parameter's numbers past autograd: its gradient lacks a share."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.cuts import Extraction
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.extraction_fixes import fix_extraction
from gradscribe.engine.doctor.finding_kind import PARTIAL_CUT, FindingKind, FoundCase
from gradscribe.engine.doctor.number_cuts import (
    FUNCTIONS,
    METHODS,
    MODULES,
    cuts_with_calls,
    entry_output,
)
from gradscribe.engine.protocol.tape import NumberCut, Op, Place, Value

_ON_PURPOSE = frozenset(("detach", "detach_"))


class _Cut(NamedTuple):
    """A cut: the tensor before it, the values behind it, and the edit that removes it."""

    before: int
    behind: tuple[int, ...]
    way: str
    place: Place
    fix: str


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each line that takes a part of what a loss depends on past autograd."""
    if not evidence.tape.passes:
        return
    found, tries = _lines_of_cuts(evidence), Counter[int]()
    for cut in (*_data_cuts(evidence), *_number_cuts(evidence)):
        tries[cut.place.line] += 1
        if cut.place.line in found or tries[cut.place.line] > _MOST_TRIES:
            continue
        for number, inside in _passes(evidence):
            leaves = _lost_leaves(evidence, cut, number, inside)
            if leaves:
                found.add(cut.place.line)
                yield _case(evidence, cut, number, leaves)
                break


def _lines_of_cuts(evidence: Evidence) -> set[int]:
    """Return the lines that have a finding already, as other leaves get nothing because of them."""
    lines = {cut.op.place.line for cut in cuts.find_cuts(evidence)}
    words = cuts.ExtractionNames(METHODS, FUNCTIONS, MODULES)
    return lines | {taken.call.lineno for taken in cuts.extractions(evidence, words)}


def _case(evidence: Evidence, cut: _Cut, number: int, leaves: tuple[Value, ...]) -> FoundCase:
    names, line = cuts.leaf_names(leaves), evidence.tape.passes[number].line
    is_single = len({leaf.name for leaf in leaves}) == 1
    message = (
        f"{names} {'reaches' if is_single else 'reach'} the root of the backward on line {line} "
        f"by two ways, and {cut.way} on line {cut.place.line} is on one of them: the gradient has "
        "the share of the other way alone, and no error is raised"
    )
    related = (evidence.place_of(cut.before), evidence.pass_place(number))
    return FoundCase(cut.place, message, related, cut.fix, _NO_FIX)


_NO_FIX = "Compute with the tensor itself here, or write detach() if the share is to be left out"


def _data_cuts(evidence: Evidence) -> Iterator[_Cut]:
    program, places = evidence.program, defaultdict[int, set[Place]](set)
    data = [node for node in program.find(ast.Attribute) if node.attr == "data"]
    for op in evidence.tape.ops if data else ():
        if op.op == "data":
            places[op.place.line].add(op.place)
    for op in evidence.tape.ops:
        if op.op != "data" or not op.inputs or not op.grad_mode or not op.outputs:
            continue
        before = evidence.values.get(op.inputs[0])
        if before is None or not before.requires_grad or _is_on_purpose(evidence, op):
            continue
        fields = [node for node in data if program.place(node) in places[op.place.line]]
        fix = program.replaced(*((n, program.source(n.value)) for n in fields)) if fields else ""
        yield _Cut(before.id, op.outputs, ".data", op.place, fix)


def _number_cuts(evidence: Evidence) -> Iterator[_Cut]:
    for cut, taken in cuts_with_calls(evidence):
        behind, value = entry_output(evidence, cut), evidence.values[cut.value]
        if not _is_same_number(evidence, cut) or _is_scaled_to_one(evidence, cut):
            continue
        fix = fix_extraction(evidence.program, Extraction(taken.call, taken.owner, value, (value,)))
        yield _Cut(cut.value, behind, cut.way, cut.place, fix)


def _is_same_number(evidence: Evidence, cut: NumberCut) -> bool:
    """Return whether the number enters as it was taken out.

    What is made of it by arithmetic (an advantage, the balance of two losses) weighs on purpose.
    """
    before = evidence.snapshot(cut.value)
    if before is None:
        return False
    if cut.leaf is None:
        args = evidence.tape.ops[cut.op].args if cut.op is not None else ()
        return cut.arg < len(args) and args[cut.arg].number == before.item() is not None
    after = evidence.snapshot(cut.leaf)
    if after is None:
        return False
    if before.data is not None and before.store == after.store:
        return before.data == after.data
    return before.norm is not None and (before.norm, before.min) == (after.norm, after.min)


def _is_scaled_to_one(evidence: Evidence, cut: NumberCut) -> bool:
    """Return whether a tensor is divided by its own number, ``loss / loss.item()``."""
    op = evidence.tape.ops[cut.op] if cut.op is not None else None
    return op is not None and op.op.rstrip("_") in _QUOTIENTS and cut.value in op.inputs


_QUOTIENTS = ("div", "true_divide", "truediv")


def _is_on_purpose(evidence: Evidence, op: Op) -> bool:
    """Return whether ``.data`` is written to, or cut off so that it cancels in the forward.

    In ``x + (hard - x).data`` the gradient is meant to pass as if there were no step in between.
    """
    source, cut = op.inputs[0], op.outputs[0]
    users = [evidence.tape.ops[number] for number in evidence.users.get(cut, ())]
    if any(user.inplace and user.inputs[:1] == (cut,) for user in users):
        return True
    made = evidence.creator(source)
    taken = set(made.inputs) if made is not None and made.op.startswith(("sub", "rsub")) else set()
    for out in (cut, *_differences(evidence, cut)):
        for number in evidence.users.get(out, ()):
            user = evidence.tape.ops[number]
            others = set(user.inputs) - {out}
            if user.op.rstrip("_") in ("add", "sub", "rsub") and others & (taken | {source}):
                return True
    return False


def _differences(evidence: Evidence, value: int) -> list[int]:
    users = (evidence.tape.ops[number] for number in evidence.users.get(value, ()))
    return [out for op in users if op.op in ("sub", "rsub") for out in op.outputs]


def _passes(evidence: Evidence) -> Iterator[tuple[int, set[int]]]:
    """Yield each pass with the values that its roots are computed from, up to a detach."""
    known = dict[tuple[int | None, ...], set[int]]()
    for number, current in enumerate(evidence.tape.passes[:_MOST_PASSES]):
        if current.roots not in known:
            known[current.roots] = _computed_from(evidence, current.roots)
        yield number, known[current.roots]


_MOST_TRIES = 20
_MOST_PASSES = 20
"""Passes that are looked at: what is cut in a loop is cut in its first rounds."""


def _computed_from(evidence: Evidence, roots: tuple[int | None, ...]) -> set[int]:
    seen, stack = set[int](), [root for root in roots if root is not None]
    while stack:
        value = stack.pop()
        if value in seen or value not in evidence.values:
            continue
        seen.add(value)
        op = evidence.creator(value)
        if op is not None and op.grad_mode and op.op not in _ON_PURPOSE:
            stack.extend(op.inputs)
    return seen


def _lost_leaves(evidence: Evidence, cut: _Cut, number: int, inside: set[int]) -> tuple[Value, ...]:
    """Return the leaves before a cut that got a gradient in a pass all the same."""
    if not any(value in inside for value in cut.behind):
        return ()
    # What was computed before the pass before is a number of the past: it is meant to be one.
    if number and evidence.position(cut.before) <= evidence.pass_at.get(number - 1, -1):
        return ()
    got = {
        evidence.values[edge.target].tensor
        for edge in evidence.tape.edges
        if edge.run == number and edge.gradient is not None and edge.target in evidence.values
    }
    before = _tracked(evidence, cut.before)
    if not any(_meets(evidence, op, cut.before, before) for op in _entered(evidence, cut, inside)):
        return ()
    behind = {evidence.values[v].tensor for v in before}
    return tuple(
        leaf for tensor, leaf in evidence.leaves.items() if tensor in got and tensor in behind
    )


def _entered(evidence: Evidence, cut: _Cut, inside: set[int]) -> Iterator[Op]:
    """Yield the ops in which the numbers behind a cut meet the graph again."""
    seen, stack = set[int](), list(cut.behind)
    while stack:
        value = stack.pop()
        if value in seen or value not in inside:
            continue
        seen.add(value)
        made = evidence.creator(value)
        if made is not None and evidence.values[value].requires_grad:
            yield made
            continue
        for number in evidence.users.get(value, ()):
            stack.extend(evidence.tape.ops[number].outputs)


def _meets(evidence: Evidence, op: Op, before: int, tracked: set[int]) -> bool:
    """Return whether an op takes something that the cut tensor was made from, or the reverse.

    Two results of one network, such as the prediction and the target of a temporal difference,
    are neither.
    """
    return any(
        value in tracked or before in _tracked(evidence, value)
        for value in op.inputs
        if value in evidence.values and evidence.values[value].requires_grad
    )


def _tracked(evidence: Evidence, value: int) -> set[int]:
    """Return the values from which a gradient could come: up to what requires none."""
    seen, stack = set[int](), [value]
    while stack:
        at = stack.pop()
        if at in seen or at not in evidence.values or not evidence.values[at].requires_grad:
            continue
        seen.add(at)
        op = evidence.creator(at)
        if op is not None:
            stack.extend(op.inputs)
    return seen


ENTRY = FindingKind(
    PARTIAL_CUT,
    "A share of the gradient is lost",
    "A parameter that the loss depends on in two ways needs the shares of both. Past .data, "
    ".item() or numpy its numbers are constants for autograd, so that one share is missing in "
    "silence. If it is to be left out, write detach(), which says so.",
    detect,
    "hint",
    sick=(
        """w = param(2.0)
loss = w * w.data * w.data  # !
loss.backward()
print(w.grad)
""",
        """# a number in the product
w = param(2.0)
y = w**2
loss = y * y.item()  # !
loss.backward()
print(w.grad)
""",
        """# a number with a name
w = param([1.0, 2.0])
y = w**2
size = float(y.sum())  # !
loss = (y / size)[0]
loss.backward()
print(w.grad)
""",
        """# a list of numbers
w = param([1.0, 2.0])
y = w**2
weights = torch.tensor(y.tolist())  # !
loss = (w * weights).sum()
loss.backward()
print(w.grad)
""",
        """# through numpy
w = param([1.0, 2.0])
y = w**2
weights = torch.from_numpy(y.detach().numpy())  # !
loss = (w * weights).sum()
loss.backward()
print(w.grad)
""",
        """# in a function
def length(t):
    return t.pow(2).sum().sqrt().item()  # !
w = param([3.0, 4.0])
unit = w / length(w)
loss = unit[0]
loss.backward()
print(w.grad)
""",
    ),
    healthy=(
        """# numbers for the log
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
total, history, best = 0.0, [], float("inf")
for step in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    history.append(float(loss))
    best = min(best, loss.item())
print(total / 4, best, torch.tensor(history).mean())
""",
        """# a target of a network that does not learn from it, a stabilizing maximum
torch.manual_seed(0)
net = nn.Linear(3, 2)
x, after = torch.randn(8, 3), torch.randn(8, 3)
target = 0.9 * net(after).detach().max(1).values
scores = net(x)
stable = scores - scores.max(1, keepdim=True).values.detach()
loss = F.mse_loss(stable.exp().sum(1), target)
loss.backward()
""",
        """# advantages, and a loss that another weighs
torch.manual_seed(0)
trunk, policy, critic = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 1)
h = torch.tanh(trunk(torch.randn(1, 3)))
value = critic(h).squeeze()
chosen = policy(h).log_softmax(1)[0, 1]
advantage = 1.5 - value.item()
actor_loss, critic_loss = -chosen * advantage, (1.5 - value) ** 2
balance = actor_loss.item() / critic_loss.item()
loss = actor_loss + balance * critic_loss
loss.backward()
""",
        """# the target of a temporal difference, in the old spelling
torch.manual_seed(0)
net = nn.Linear(3, 2)
now, after = torch.randn(8, 3), torch.randn(8, 3)
target = 0.9 * net(after).max(1).values.data
loss = F.mse_loss(net(now).max(1).values, target)
loss.backward()
""",
        """# straight through, in the old spelling
w = param([0.3, 0.8])
y = w + (torch.round(w) - w).data
loss = ((y - 1) ** 2).sum()
loss.backward()
print(w.grad)
""",
        """# the loss of the step before sets the weight of this one
w = param(2.0)
opt = optim.SGD([w], lr=0.01)
before = 1.0
for step in range(3):
    loss = (w - 1) ** 2 / before
    opt.zero_grad()
    loss.backward()
    opt.step()
    before = loss.item()
""",
    ),
)
