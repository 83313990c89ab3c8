"""Texts of the inspector: titles, subtitles, and reasons for missing numbers."""

from gradscribe.engine.protocol.tape import Snapshot, Value
from gradscribe.playback.explain import events as explained_events
from gradscribe.playback.explain import page as explained
from gradscribe.playback.tape import event_text, passes
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.text import symbols
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.inspector.panes.page import InspectorPage

Texts = tuple[str, str]


def root_name(page: InspectorPage) -> str:
    """Return the name of the latest backward pass's root, ``L`` or the like if it has none."""
    if page.index is None:
        return "L"
    return explained.root_name(page.index, len(page.index.tape.passes) - 1)


def title(page: InspectorPage) -> Texts:
    """Return title and subtitle of a page."""
    chosen, index = page.selection, page.index
    if index is None:
        return tr("Inspector"), tr("Run some code, then pick something to look at")
    if chosen is None:
        return _event_title(page)
    if chosen.kind == "module" and page.call is not None:
        call = page.call
        last = tr("last of {count:,}", count=chosen.repeats) if chosen.repeats > 1 else ""
        parameters = ngettext("{count:,} parameter", "{count:,} parameters", call.parameters)
        return call.name, " · ".join(filter(None, (call.kind, last, parameters)))
    value = page.value
    if value is None:
        return (
            (chosen.literal, tr("A plain Python number")) if chosen.literal else (tr("Nothing"), "")
        )
    if chosen.kind == "wire":
        return _wire_title(page, index, value)
    return event_text.value_name(index, value.id), _about(index, value)


def _event_title(page: InspectorPage) -> Texts:
    explanation, index = page.explanation, page.index
    if explanation is None or index is None:
        return tr("Inspector"), tr("Step into the tape, or pick a card, a wire or a row")
    return explained_events.position_titles(index, explanation, page.position)


def _wire_title(page: InspectorPage, index: Index, value: Value) -> Texts:
    op = page.selection.op if page.selection else None
    known = op is not None and op < len(index.tape.ops)
    user = symbols.canonical_name(index.op(op).op) if known and op is not None else tr("its user")
    share = page.snapshot_number("gradient")
    if share is None:
        return (
            f"{event_text.value_name(index, value.id)} → {user}",
            tr("No gradient has flowed back along it"),
        )
    number = "" if page.is_hidden("gradient") else _scalar(index.snapshot(share))
    return (
        f"{event_text.value_name(index, value.id)} → {user}",
        tr("Its share of the gradient, {number}, flowed back along it", number=number)
        if number
        else tr("With the gradient that flowed back along it"),
    )


def _about(index: Index, value: Value) -> str:
    about = _origin(index, value)
    return (
        tr("{about} · first of {examples:,} in vmap", about=about, examples=value.examples)
        if value.examples
        else about
    )


def _origin(index: Index, value: Value) -> str:
    maker = symbols.canonical_name(index.op(value.op).op) if value.op is not None else ""
    if value.maker == "grad":
        return tr("gradient {made_by}", made_by=passes.made_by(index, value)).rstrip()
    return {
        "parameter": tr("parameter, gets a gradient"),
        "data": tr("input data"),
        "constant": tr("constant, cut off from the graph"),
        "result": tr("made by {maker}", maker=maker) if maker else tr("result"),
    }[value.role]


HIDDEN = tr("Hidden until you find it by hand")


def absence_reason(page: InspectorPage) -> str:
    """Return the reason why the chosen side has no number at this position."""
    value, index = page.value, page.index
    assert value is not None
    assert index is not None
    if page.is_hidden(page.side):
        return HIDDEN
    if page.side == "value":
        return tr("Not computed yet") if not page.reached else tr("Its numbers were not recorded")
    if not page.reached:
        return tr("Not computed yet, so no gradient either")
    known = page.known
    if known.zeros:
        return tr("Zeros, since the last reset")
    if not value.requires_grad:
        return tr("No gradient: it does not require one")
    if known.pending:
        return tr("On its way")
    if known.returned is not None:
        return tr("Returned by grad, not added to .grad")
    started = [run for run, (at, _) in index.passes.items() if at < page.position]
    if not started:
        return tr("No gradient yet: backward has not begun")
    if index.passes[max(started)][1] >= page.position:
        return tr("Backward has not reached this yet")
    return tr("None: no gradient reached it")


def gradient_sum_text(page: InspectorPage) -> str:
    """Return the gradient sum, ``3 + 1 = 4``; empty with fewer than two contributions."""
    known, index = page.known, page.index
    if index is None or not known.shares or (len(known.shares) < 2 and not known.pending):
        return ""
    parts = [_scalar(index.snapshot(number)) for number in known.shares]
    if "" in parts:
        return ngettext("{count:,} share arrived", "{count:,} shares arrived", len(parts))
    written = " + ".join(f"({p})" if p.startswith(texts.MINUS) else p for p in parts[:6])
    if len(parts) > 6:
        written += tr(" + {value} more", value=len(parts) - 6)
    total = _scalar(index.snapshot(known.returned if known.snapshot is None else known.snapshot))
    return f"{written} + …" if known.pending or not total else f"{written} = {total}"


def _scalar(snapshot: Snapshot | None) -> str:
    number = None if snapshot is None else snapshot.item()
    return "" if number is None else texts.trim_zeros(number)
