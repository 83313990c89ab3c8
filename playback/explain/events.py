"""Explanations of events other than ops, nodes and leaves: passes, updates, prints, modules."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from gradscribe.engine.protocol.tape import Change, Event, EventKind
from gradscribe.playback.explain import naming
from gradscribe.playback.explain.page import Explanation, ExplanationRow, explain, root_name
from gradscribe.playback.tape import event_text, snapshot_text, track
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.loops.partial_loops import numbers_of
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import ngettext, tr, translated

T = TypeVar("T")
MAX_ROWS = 12
"""Most leaves that are listed; the rest is counted."""
INVITATION = tr("Click a card, an edge or a line to look inside")
START = tr("Nothing has run yet. Press Play or Step, or drag the strip at the bottom.")


def explain_position(index: Index, position: int) -> Explanation:
    """Explain what the event before ``position`` did; at 0 the whole tape."""
    if not position:
        return explain_start(index)
    at = position - 1
    event = index.tape.events[at]
    if event.kind == "node":
        return explain(index, execution=event.ref, position=position)
    if event.kind == "op":
        return explain(index, op=event.ref, position=position)
    if event.kind == "leaf":
        return explain(index, value=event.ref, position=position)
    if event.kind == "accumulate":
        found = explain(index, value=index.tape.accumulations[event.ref].leaf, position=position)
        return replace(found, title=event_text.caption(index, at))
    return explain_event(index, position)


def position_titles(index: Index, explanation: Explanation, position: int) -> tuple[str, str]:
    """Return title and subtitle of `explain_position`: the place on the tape, the event."""
    if explanation.step:
        return explanation.step, explanation.title
    total = len(index.tape.events)
    if not position:
        return (
            tr(
                "Start · {events}",
                events=ngettext("{count:,} event", "{count:,} events", total),
            ),
            explanation.title,
        )
    phase = track.title_at(index, position - 1)
    return tr(
        "{phase} · event {position:,} of {total:,}", phase=phase, position=position, total=total
    ), explanation.title


def explain_start(index: Index) -> Explanation:
    """Explain position 0: an overview of the tape."""
    tape = index.tape
    if not tape.events:
        return Explanation("", words=tr("There are no tensors yet"))
    rows = [
        ExplanationRow("ops", tr("will run forward"), f"{len(tape.ops):,}"),
        ExplanationRow(tr("backward nodes"), tr("will run"), f"{len(tape.executions):,}"),
    ]
    if tape.steps:
        rows.append(ExplanationRow(tr("optimizer steps"), "", f"{len(tape.steps):,}"))
    return Explanation(tr("Before the first event"), words=START, rows=tuple(rows))


def explain_event(index: Index, position: int) -> Explanation:
    """Explain the event that led to ``position`` (from 1)."""
    at = position - 1
    event = index.tape.events[at]
    explainer = {
        "end": _end,
        "backward": _begin,
        "step": _step,
        "zero_grad": _reset,
        "grad": _rewrite,
        "write": _write,
        "gap": _gap,
        "print": _print,
        "enter": _module,
        "leave": _module,
        "error": _error,
    }[event.kind]
    formula, sentence, rows = explainer(index, event, position)
    title = _TITLES.get(event.kind) or event_text.caption(index, at)
    return Explanation(title, formula, sentence, tuple(rows))


_TITLES: dict[EventKind, str] = {
    "step": tr("The optimizer changes the parameters"),
    "zero_grad": tr("Gradients are reset"),
    "grad": tr("The program changes gradients"),
    "write": tr("The program changes numbers"),
    "gap": tr("Steps recorded by their numbers alone"),
    "print": tr("The program printed a line"),
    "error": tr("The program stopped here"),
}


_Parts = tuple[str, str, list[ExplanationRow]]


def _end(index: Index, event: Event, position: int) -> _Parts:
    """List every leaf that the pass reached, with its gradient."""
    loss = root_name(index, event.ref)
    added = [
        accumulation for accumulation in index.tape.accumulations if accumulation.run == event.ref
    ]
    old = {
        index.first_version(accumulation.leaf)
        for accumulation in added
        if accumulation.before is not None
    }

    def row(home: int) -> ExplanationRow:
        name, gradient = _name(index, home), _gradient(index, home, position)
        if home in old:
            return ExplanationRow(f"{name}.grad", tr("added up"), gradient, True)
        return ExplanationRow(f"∂{loss}/∂{name}", "", gradient, True)

    if not added:
        asked = index.tape.passes[event.ref].kind == "grad"
        why = (
            tr("Its results were returned, not added to .grad")
            if asked
            else tr("It reached no leaf")
        )
        return "", f"{why}. {INVITATION}", []
    sentence = tr("How fast {loss} changes with each leaf", loss=loss)
    if old:
        sentence += tr("; added to what was there before")
    leaves = sorted({index.first_version(accumulation.leaf) for accumulation in added})
    return "", sentence, [*_few(leaves, row), ExplanationRow("", INVITATION, "")]


def _begin(index: Index, event: Event, _position: int) -> _Parts:
    """List the roots and initial gradients of the pass."""
    run = index.tape.passes[event.ref]
    loss = root_name(index, event.ref)
    rows = []
    for root, seed in zip(run.roots, run.seeds, strict=False):
        name = event_text.value_name(index, root) if root is not None else "root"
        number = snapshot_text.gradient(index.snapshot(seed)) or "1"
        rows.append(ExplanationRow(f"∂{loss}/∂{name}", tr("the seed"), number, True))
    sentence = tr("The gradient of a result with respect to itself is 1; from here it runs back")
    if any(
        naming.scalar(index, seed) not in (None, 1.0) or _wide(index, seed) for seed in run.seeds
    ):
        sentence = tr("The gradient that backward was given; from here it runs back")
    if run.create_graph:
        sentence += tr(". create_graph: what runs backward is recorded too")
    return "", sentence, rows


def _wide(index: Index, seed: int | None) -> bool:
    given = index.snapshot(seed)
    return given is not None and given.numel != 1


def _step(index: Index, event: Event, _position: int) -> _Parts:
    """List every parameter with its values before and after."""
    step = index.tape.steps[event.ref]

    rate = (
        ""
        if step.lr is None
        else tr(", learning rate {trim_zeros}", trim_zeros=formatting.trim_zeros(step.lr, 6))
    )
    sentence = tr("Each parameter takes a step against its gradient")
    if buffers := list(dict.fromkeys(name for _, name, _ in step.memory)):
        sentence += tr(
            ". It stores {join} for each; the table Line shows them", join=", ".join(buffers)
        )
    if not step.changes:
        sentence = tr("No parameter had a gradient, so none was changed")
    return (
        f"{step.optimizer}{rate}",
        sentence,
        _few(step.changes, lambda change: _moved(index, change)),
    )


def _moved(index: Index, change: Change) -> ExplanationRow:
    """Return a tensor's values before and after; for a larger tensor the norm of the change."""
    name = _name(index, change.before)
    old, new = (index.snapshot(index.values[v].snapshot) for v in (change.before, change.after))
    before, after = snapshot_text.value(old), snapshot_text.value(new)
    is_written = new is None or new.numel <= snapshot_text.MAX_WRITTEN_ELEMENTS
    by = snapshot_text.distance(old, new)
    # Nothing of a small change, or of none, is left in so few digits.
    is_hidden = before == after and by is not None
    if new is None or (is_written and not is_hidden):
        return ExplanationRow(name, "", f"{before} → {after}", True)
    moved = tr("moved by {number}", number=formatting.number(by)) if by else tr("unchanged")
    number = after if is_written else formatting.shape(new.shape)
    return ExplanationRow(name, tr("changed") if by is None else moved, number, True)


def _reset(index: Index, event: Event, _position: int) -> _Parts:
    """List every gradient that was cleared."""
    reset = index.tape.resets[event.ref]
    to = "None" if reset.to_none else "0"
    rows = _few(reset.leaves, lambda leaf: ExplanationRow(f"{_name(index, leaf)}.grad", "", to))
    sentence = tr(
        "The next backward starts from nothing; without this it would add to the old gradients"
    )
    return "", sentence if rows else tr("There was no gradient to clear"), rows


def _write(index: Index, event: Event, _position: int) -> _Parts:
    """List every tensor whose memory was changed directly, with its values before and after."""
    sentence = tr("Not by an op on the tensor itself: through a view, .data, NumPy or the like")
    rows = _few(index.tape.writes[event.ref], lambda change: _moved(index, change))
    return "", sentence, rows


def _gap(index: Index, event: Event, _position: int) -> _Parts:
    """List what the steps of a gap changed, and the loss before and after."""
    gap = index.tape.gaps[event.ref]
    loop = index.tape.step_loops[gap.loop]
    sentence = tr(
        "{steps_text} of {steps:,} ran at full speed: their numbers are in the "
        "curves, their events are not on the tape",
        steps_text=event_text.steps_text(gap),
        steps=loop.steps,
    )
    rows = []
    for column in map(numbers_of, loop.columns):
        first, last = column.at(gap.first), column.at(gap.last)
        if column.kind == "loss" and first is not None and last is not None:
            ends = f"{formatting.number(first)} → {formatting.number(last)}"
            rows.append(ExplanationRow(tr("loss of line {line}", line=column.line), "", ends))
    return "", sentence, [*rows, *_few(gap.changes, lambda change: _moved(index, change))]


def _rewrite(index: Index, event: Event, position: int) -> _Parts:
    """List every gradient that the program changed or set, before and after."""

    def row(change: tuple[int, int]) -> ExplanationRow:
        home = index.first_version(change[0])
        at = bisect_left(index.grads[home], position - 1, key=lambda grad: grad.event)
        before = index.grads[home][at - 1].snapshot if at else None
        now = snapshot_text.gradient(index.snapshot(change[1]))
        was = snapshot_text.gradient(index.snapshot(before)) if before is not None else "None"
        return ExplanationRow(f"{_name(index, home)}.grad", "", f"{was} → {now}", True)

    sentence = tr("What backward left in .grad is no longer what an update uses")
    return "", sentence, _few(index.tape.rewrites[event.ref], row)


def _print(index: Index, event: Event, _position: int) -> _Parts:
    """Quote what was printed."""
    printed = index.tape.prints[event.ref].strip()
    return "", f"{printed[:400]}{'…' if len(printed) > 400 else ''}\n\n{INVITATION}", []


def _module(index: Index, event: Event, _position: int) -> _Parts:
    """Describe the module that is entered or left."""
    call = index.tape.calls[event.ref]
    rows = [ExplanationRow("parameters", "", f"{call.parameters:,}")]
    ops = sum(op.call == event.ref for op in index.tape.ops)
    if ops:
        rows.append(ExplanationRow(tr("ops of its own"), "", f"{ops:,}"))
    about = symbols.module_sizes(call)
    return f"{call.kind}({about})" if about else call.kind, INVITATION, rows


def _error(index: Index, _event: Event, _position: int) -> _Parts:
    """Repeat the message and the hint."""
    problem = index.tape.error
    if problem is None:
        return "", tr("The program raised an error"), []
    message = problem.message[:400].rstrip(".")
    # torch indents parts of long messages by tabs, which would take a third of a narrow panel.
    message = translated(message).replace("\t", "  ")
    words = filter(None, (message, translated(problem.hint)))
    return problem.type, ". ".join(words), []


def _name(index: Index, value: int) -> str:
    return formatting.variable(event_text.value_name(index, value))


def _gradient(index: Index, home: int, position: int) -> str:
    known = index.gradient(home, position)
    return snapshot_text.gradient(index.snapshot(known.snapshot)) or (
        "0" if known.zeros else "None"
    )


def _few(things: Sequence[T], describe: Callable[[T], ExplanationRow]) -> list[ExplanationRow]:
    """Return rows for the first things only: a big model has thousands, and each row takes time."""
    rows, more = [describe(thing) for thing in things[:MAX_ROWS]], len(things) - MAX_ROWS
    return (
        rows
        if more <= 0
        else [
            *rows,
            ExplanationRow(
                "…",
                tr("and {others}", others=ngettext("{count:,} other", "{count:,} others", more)),
                "",
            ),
        ]
    )
