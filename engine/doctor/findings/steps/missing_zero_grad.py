"""Gradients of several updates that accumulate because nothing clears them in between."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence, LeafEvent
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.fixes import with_cleared_gradients
from gradscribe.engine.doctor.snapshot_stats import format_number, is_zero, norm
from gradscribe.engine.protocol.tape import Place


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield for each line of a pass a leaf whose accumulated gradient was used in an update."""
    seen = set()
    for tensor, moments in evidence.leaf_events.items():
        mixed = _mixed(evidence, moments)
        if mixed is None:
            continue
        first, again, use = mixed
        numbers = [evidence.tape.accumulations[moment.ref].run for moment in again]
        place = evidence.pass_place(numbers[0])
        if place in seen:
            continue
        seen.add(place)
        name = evidence.leaves[tensor].name if tensor in evidence.leaves else ""
        step = _where(evidence, use)
        yield FoundCase(
            place,
            _message(evidence, name or "a leaf", first, moments),
            (step,),
            with_cleared_gradients(
                evidence, place.line, tensor, step.line, after=_adds_up(evidence, numbers)
            ),
        )


def _adds_up(evidence: Evidence, numbers: list[int]) -> bool:
    """Return whether all passes before an update, if several, are from the same line."""
    lines = [evidence.tape.passes[number].line for number in numbers]
    return len(lines) > 1 and len(set(lines)) == 1


def _mixed(
    evidence: Evidence, moments: list[LeafEvent]
) -> tuple[LeafEvent, list[LeafEvent], LeafEvent] | None:
    """Return the gradient that was used, those added to it, and the update that used them all.

    Of the added gradients only those since the last optimizer step count: what other passes left
    (as a generator's does in its discriminator) is cleared with the first of them.
    """
    fresh: list[LeafEvent] = []
    used: LeafEvent | None = None
    mixed: list[LeafEvent] = []
    for moment in moments:
        if moment.kind == "reset":
            fresh, used, mixed = [], None, []
        elif moment.kind == "add":
            before = evidence.tape.accumulations[moment.ref].before
            if before is None or is_zero(evidence.tape.snapshots[before]):
                fresh, used, mixed = [], None, []
            elif not fresh and used is None:
                # A single step of a longer run: it began with the gradient of the step before.
                used, mixed = moment, [moment]
            elif used is not None:
                mixed.append(moment)
            fresh.append(moment)
        elif mixed and used is not None:
            steps = [at for at in evidence.step_at.values() if at < moment.position]
            since = max(steps, default=0)
            return used, [m for m in mixed if m.position > since] or mixed[-1:], moment
        elif fresh:
            used = used or fresh[0]
    return None


def _message(evidence: Evidence, name: str, first: LeafEvent, moments: list[LeafEvent]) -> str:
    sums = []
    for moment in moments:
        if moment.kind == "add" and moment.position >= first.position:
            after = evidence.tape.accumulations[moment.ref].after
            sums.append(
                "?" if after is None else format_number(norm(evidence.tape.snapshots[after]))
            )
    text = f"{name}.grad was not cleared after an update: backward added to what it held"
    if len(sums) < 2:  # one step of a longer run
        return f"{text}, which made its size {sums[0]}" if sums else text
    sizes = " → ".join(sums[:5]) + (" → …" if len(sums) > 5 else "")
    return f"{text}. Over {len(sums)} passes its size went {sizes}"


def _where(evidence: Evidence, moment: LeafEvent) -> Place:
    if moment.ref >= 0:
        return evidence.step_place(evidence.tape.steps[moment.ref])
    if moment.op is not None:
        return evidence.tape.ops[moment.op].place
    return Place()


ENTRY = FindingKind(
    "missing-zero-grad",
    "Gradients are never cleared",
    "backward adds to .grad. Without zero_grad each update also uses the gradients of all updates "
    "before it: steps grow too long and point the wrong way.",
    detect,
    setup_fix=SetupFix(mistake="no_zero_grad"),
    sick=(
        """w = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(3):
    loss = (w ** 2).sum()
    loss.backward()  # !
    w.data -= 0.1 * w.grad.data
""",
    ),
    healthy=(
        """# gradients accumulated on purpose over four small batches
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for part in range(4):
        rows = slice(4 * part, 4 * part + 4)
        loss = F.mse_loss(model(x[rows]), y[rows]) / 4
        loss.backward()
    opt.step()
    opt.zero_grad()
""",
        """# zeroed in place through data
w = param(1.0)
for step in range(5):
    loss = (w - 3) ** 2
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad.data.zero_()
""",
    ),
)
