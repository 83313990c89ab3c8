"""The op that first created a NaN, or an infinity that reached the loss."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.rewrites import nan_fixes
from gradscribe.engine.doctor.snapshot_stats import has_inf, has_nan, shape
from gradscribe.engine.protocol.tape import Execution, Node, Op, Snapshot


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the first data, op or backward node with a result that is not finite."""
    blew_up = training.blew_up(evidence)
    found = [
        _first_data(evidence),
        None if blew_up else _first_op(evidence),
        None if blew_up else _first_node(evidence),
    ]
    positions = [event for event in found if event is not None]
    if positions:
        yield min(positions, key=lambda event: event.position).case()


class _FirstEvent(NamedTuple):
    """The position of an event on the tape, and the case that it makes."""

    position: int
    case: Callable[[], FoundCase]


def _first_data(evidence: Evidence) -> _FirstEvent | None:
    """Return the first leaf that holds NaN; a ``.grad`` or another constant is no data."""
    for value in evidence.tape.values:
        if value.role not in ("data", "parameter") or value.name.endswith(".grad"):
            continue
        if value.op is None and value.is_leaf and value.version == 0 and not value.node:
            snapshot = evidence.snapshot(value.id)
            changed = value.tensor in evidence.stepped
            if value.maker in _UNINITIALISED:
                continue
            if snapshot is not None and has_nan(snapshot) and not changed:
                name = value.name or "The data"
                message = f"{name} {shape(value.shape)} holds NaN from the start"
                case = partial(FoundCase, value.place, message, why_no_fix=_MISSING)
                return _FirstEvent(evidence.position(value.id), case)
    return None


_UNINITIALISED = frozenset("empty empty_like new_empty empty_strided".split())
"""Factories whose results contain arbitrary data until they are written to."""
_MISSING = "Only you know what belongs in place of the missing numbers"


def _first_op(evidence: Evidence) -> _FirstEvent | None:
    matters = _infinities_matter(evidence)
    for op in evidence.tape.ops:
        if op.phase != "forward":
            continue
        for output in op.outputs:
            snapshot = evidence.snapshot(output)
            if snapshot is None:
                continue
            nan = has_nan(snapshot)
            bad = nan or (matters and has_inf(snapshot) and output in matters)
            if bad and _given_finite(evidence, op, nan):
                make = partial(_op_case, evidence, op, snapshot, nan)
                return _FirstEvent(evidence.position(output), make)
    return None


def _op_case(evidence: Evidence, op: Op, made: Snapshot, nan: bool) -> FoundCase:
    message = _message(evidence, op, made, nan)
    origins = tuple(evidence.place_of(i) for i in op.inputs[:2])
    return FoundCase(op.place, message, origins, nan_fixes.fix_nan(evidence, op))


def _infinities_matter(evidence: Evidence) -> set[int]:
    """Return the values that a non-finite root depends on: infinite masks are no mistake."""
    roots = [
        root
        for root in evidence.roots
        if (s := evidence.snapshot(root)) is not None and (has_nan(s) or has_inf(s))
    ]
    return evidence.dependencies(roots)


def _given_finite(evidence: Evidence, op: Op, nan: bool) -> bool:
    if any(a.text in ("-inf", "inf") for a in op.args) and not nan:
        return False
    given = [s for i in op.inputs if (s := evidence.snapshot(i)) is not None]
    if nan:
        return not any(has_nan(s) for s in given)
    return not any(has_nan(s) or has_inf(s) for s in given)


def _message(evidence: Evidence, op: Op, made: Snapshot, nan: bool) -> str:
    array = made.array()
    count = f"{made.nan if nan else made.inf} elements"
    if array is not None:
        bad = int((np.isnan(array) if nan else np.isinf(array)).sum())
        count = f"{bad} of {array.size} elements" if array.size > 1 else "its result"
    ranges = []
    for i in op.inputs[:2]:
        snapshot = evidence.snapshot(i)
        numbers = snapshot.array() if snapshot is not None else None
        if numbers is not None and numbers.size and numbers.dtype.kind in "fiu":
            low, high = numbers.min(), numbers.max()
            what = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
            ranges.append(f"{evidence.name(i, 'an input')} = {what}")
    given = f", given {', '.join(ranges)}" if ranges else ""
    return f"{op.op} is the first to make {'NaN' if nan else 'infinity'}: {count}{given}"


def _first_node(evidence: Evidence) -> _FirstEvent | None:
    tape = evidence.tape
    nodes = {n.id: n for n in tape.nodes}
    at = {e.ref: i for i, e in enumerate(tape.events) if e.kind == "node"}
    for index, run in enumerate(tape.executions):
        got = [tape.snapshots[i] for i in run.received if i is not None]
        sent = [tape.edges[i].gradient for i in run.edges]
        made = [tape.snapshots[i] for i in sent if i is not None]
        bad = any(has_nan(s) or has_inf(s) for s in made)
        if not bad or any(has_nan(s) or has_inf(s) for s in got):
            continue
        node = nodes.get(run.node)
        if node is None:
            return None
        word = "NaN" if any(has_nan(s) for s in made) else "infinity"
        return _FirstEvent(at.get(index, 0), partial(_node_case, evidence, run, node, word))
    return None


def _node_case(evidence: Evidence, run: Execution, node: Node, word: str) -> FoundCase:
    op = evidence.tape.ops[node.op] if node.op is not None else None
    where = f", the backward of {op.op} on line {op.place.line}," if op is not None else ""
    message = f"Forward is finite, but {node.name}{where} is the first to send {word}"
    place = op.place if op is not None else evidence.pass_place(run.run)
    fix = nan_fixes.fix_nan(evidence, op) if op is not None else ""
    return FoundCase(place, message, (evidence.pass_place(run.run),), fix)


ENTRY = FindingKind(
    "first-nan",
    "NaN or infinity appears",
    "NaN spreads: whatever is computed from it is NaN, and after one update so is every parameter. "
    "The place where it first appears is the one to fix.",
    detect,
    setup_fix=SetupFix(mistake="huge_lr", rate=0.1),
    sick=(
        """x = param([1.0, 0.0, -1.0])
y = torch.log(x)  # !
loss = (y * 2).sum()
loss.backward()
""",
        """# clipping passes a NaN on that the root has made
torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(6, 3)
x[3] = x[2]
for step in range(3):
    e = net(x)
    d = ((e[::2] - e[1::2]) ** 2).sum(1).sqrt().mean()  # !
    opt.zero_grad()
    d.backward()
    nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
    opt.step()
""",
        """# two logarithms of a saturated probability
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(20, 2) * 6
y = (x[:, :1] > 0).float()
for step in range(4):
    opt.zero_grad()
    p = torch.sigmoid(net(x) * 20)
    loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # !
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
""",
        """# a spread of zero under a logarithm and in a divisor
raw = param([-120.0, 0.3, 1.0])
mean, y = param([0.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, -1.0])
opt = optim.SGD([raw, mean], lr=0.05)
for step in range(3):
    std = F.softplus(raw)
    loss = (torch.log(std) + ((y - mean) / std) ** 2 / 2).mean()  # !
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# a logarithm kept away from zero
x = param([0.0, 0.5, 1.0])
y = torch.log(x.clamp(min=1e-6))
safe = torch.where(x > 0, x, torch.ones_like(x)).sqrt()
(y + safe).sum().backward()
""",
        """# memory that is written over before it is read
for _ in range(5):
    print(torch.empty(4).shape)
    noise = torch.empty(4).normal_()
w = param([1.0, 2.0, 3.0, 4.0])
(w * noise).sum().backward()
""",
    ),
)
