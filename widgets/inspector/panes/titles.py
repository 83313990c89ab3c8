"""Texts of the inspector: titles, subtitles, and reasons for missing numbers."""

from gradscribe.engine.protocol.tape import Snapshot, Value
from gradscribe.playback.explain import events as explained_events
from gradscribe.playback.explain import page as explained
from gradscribe.playback.tape import event_text, passes
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.text import symbols
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
        return "Inspector", "Run some code, then pick something to look at"
    if chosen is None:
        return _event_title(page)
    if chosen.kind == "module" and page.call is not None:
        call = page.call
        return call.name, f"{call.kind} · {texts.count(call.parameters, 'parameter')}"
    value = page.value
    if value is None:
        return (chosen.literal, "A plain Python number") if chosen.literal else ("Nothing", "")
    if chosen.kind == "wire":
        return _wire_title(page, index, value)
    return event_text.value_name(index, value.id), _about(index, value)


def _event_title(page: InspectorPage) -> Texts:
    explanation, index = page.explanation, page.index
    if explanation is None or index is None:
        return "Inspector", "Step into the tape, or pick a card, a wire or a row"
    return explained_events.position_titles(index, explanation, page.position)


def _wire_title(page: InspectorPage, index: Index, value: Value) -> Texts:
    op = page.selection.op if page.selection else None
    known = op is not None and op < len(index.tape.ops)
    user = symbols.canonical_name(index.op(op).op) if known and op is not None else "its user"
    share = page.snapshot_number("gradient")
    if share is None:
        return (
            f"{event_text.value_name(index, value.id)} → {user}",
            "No gradient has flowed back along it",
        )
    return (
        f"{event_text.value_name(index, value.id)} → {user}",
        "With the gradient that flowed back along it",
    )


def _about(index: Index, value: Value) -> str:
    about = _origin(index, value)
    return f"{about} · first of {value.examples:,} in vmap" if value.examples else about


def _origin(index: Index, value: Value) -> str:
    maker = symbols.canonical_name(index.op(value.op).op) if value.op is not None else ""
    if value.maker == "grad":
        return f"gradient {passes.made_by(index, value)}".rstrip()
    return {
        "parameter": "parameter, gets a gradient",
        "data": "input data",
        "constant": "constant, cut off from the graph",
        "result": f"made by {maker}" if maker else "result",
    }[value.role]


HIDDEN = "Hidden until you find it by hand"


def absence_reason(page: InspectorPage) -> str:
    """Return the reason why the chosen side has no number at this position."""
    value, index = page.value, page.index
    assert value is not None
    assert index is not None
    if page.is_hidden(page.side):
        return HIDDEN
    if page.side == "value":
        return "Not computed yet" if not page.reached else "Its numbers were not recorded"
    if not page.reached:
        return "Not computed yet, so no gradient either"
    known = page.known
    if known.zeros:
        return "Zeros, since the last reset"
    if not value.requires_grad:
        return "No gradient: it does not require one"
    if known.pending:
        return "On its way"
    if known.returned is not None:
        return "Returned by grad, not added to .grad"
    started = [run for run, (at, _) in index.passes.items() if at < page.position]
    if not started:
        return "No gradient yet: backward has not begun"
    if index.passes[max(started)][1] >= page.position:
        return "Backward has not reached this yet"
    return "None: no gradient reached it"


def gradient_sum_text(page: InspectorPage) -> str:
    """Return the gradient sum, ``3 + 1 = 4``; empty with fewer than two contributions."""
    known, index = page.known, page.index
    if index is None or not known.shares or (len(known.shares) < 2 and not known.pending):
        return ""
    parts = [_scalar(index.snapshot(number)) for number in known.shares]
    if "" in parts:
        return texts.count(len(parts), "share") + " arrived"
    written = " + ".join(f"({p})" if p.startswith(texts.MINUS) else p for p in parts[:6])
    if len(parts) > 6:
        written += f" + {len(parts) - 6} more"
    total = _scalar(index.snapshot(known.returned if known.snapshot is None else known.snapshot))
    return f"{written} + …" if known.pending or not total else f"{written} = {total}"


def _scalar(snapshot: Snapshot | None) -> str:
    number = None if snapshot is None else snapshot.item()
    return "" if number is None else texts.trim_zeros(number)
