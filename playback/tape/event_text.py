"""Text of an event: short for the caption, with its numbers for the ledger."""

from gradscribe.engine.protocol.tape import Call, Edge, Event, Gap, Op, Value
from gradscribe.playback.tape import passes, snapshot_text
from gradscribe.playback.tape.expressions import value_expression
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import ngettext, tr

MAX_LISTED = 6
"""Most items that are listed by name; the others are counted."""


def caption(index: Index, at: int) -> str:
    """Return a short text for an event, without numbers."""
    event = index.tape.events[at]
    if event.kind == "node":
        node = index.nodes[index.tape.executions[event.ref].node].name
        if index.tape.executions[event.ref].edges:
            return tr("{name} hands on its gradient", name=node)
        return tr("{name} receives its gradient", name=node)
    if event.kind == "accumulate":
        return tr(
            "{value_name} collects its gradient",
            value_name=value_name(index, index.tape.accumulations[event.ref].leaf),
        )
    if event.kind == "op":
        return _op_caption(index, index.op(event.ref), index.kinds[event.ref] == "update")
    if event.kind == "leaf":
        read = index.values[event.ref].maker == ".grad"
        return (
            tr("{value_name} is read", value_name=value_name(index, event.ref))
            if read
            else tr("{value_name} is made", value_name=value_name(index, event.ref))
        )
    return ledger_text(index, at)


def ledger_text(index: Index, at: int) -> str:
    """Return a sentence for an event, with its numbers."""
    event = index.tape.events[at]
    if event.kind == "leaf":
        return _leaf(index, index.values[event.ref])
    if event.kind == "op":
        return _op(index, index.op(event.ref), index.kinds[event.ref] == "update")
    if event.kind == "node":
        return _node(index, event.ref)
    if event.kind == "accumulate":
        return _accumulated(index, event.ref)
    return _rare(index, event)


def value_name(index: Index, value: int) -> str:
    """Return a value's name; without one its expression, or what made it: ``the linear``."""
    made = index.values[value]
    name = made.name or index.values[index.first_version(value)].name
    if name:
        return name
    if made.op is not None:
        found = value_expression(index, value)
        return (
            found.text
            if found is not None
            else tr("the {op_title}", op_title=symbols.op_title(index.op(made.op)))
        )
    if made.maker in (".grad", "grad"):
        return tr("a gradient")
    return (
        tr("the {rsplit}", rsplit=made.maker.rsplit(".", 1)[-1]) if made.maker else tr("a tensor")
    )


def edge_target_name(index: Index, edge: Edge) -> str:
    """Return the target of an edge: a leaf's name, else that of the value of the node."""
    if edge.target not in index.nodes:
        return value_name(index, edge.target)
    op = index.node_ops.get(edge.target)
    if op is not None:
        for value in index.op(op).outputs:
            made = index.values[value]
            if (made.node, made.output_nr) == (edge.target, edge.input_nr):
                return value_name(index, value)
    return index.nodes[edge.target].name


def _leaf(index: Index, value: Value) -> str:
    name = value_name(index, value.id)
    kind = {"parameter": "parameter", "constant": "constant"}.get(value.role, "data")
    if value.maker == "grad":
        kind = passes.made_by(index, value) or "gradient"
    return f"{name} = {snapshot_text.value(index.snapshot(value.snapshot))} ({kind})"


def _op_caption(index: Index, op: Op, updates: bool) -> str:
    if updates and op.inplace:
        return tr("{value_name} is updated in place", value_name=value_name(index, op.outputs[0]))
    if op.inplace:
        return tr(
            "{op_title} changes {value_name} in place",
            op_title=symbols.op_title(op),
            value_name=value_name(index, op.outputs[0]),
        )
    name = result_name(index, op)
    return (
        tr("{op_title} makes {name}", op_title=symbols.op_title(op), name=name)
        if name
        else tr("{op_title} runs", op_title=symbols.op_title(op))
    )


def result_name(index: Index, op: Op) -> str:
    """Return what an op's first result is called: its name, else its expression; else ""."""
    made = index.values[op.outputs[0]]
    if made.name:
        return made.name
    found = value_expression(index, made.id)
    return found.text if found is not None else ""


def _op(index: Index, op: Op, updates: bool) -> str:
    made = index.values[op.outputs[0]]
    new = snapshot_text.value(index.snapshot(made.snapshot))
    if op.inplace:
        before = next(
            (v for v in op.inputs if index.first_version(v) == index.first_version(made.id)), None
        )
        old = snapshot_text.value(index.snapshot(index.values[before].snapshot)) if before else ""
        verb = "updated" if updates else "changed"
        return f"{symbols.op_title(op)} {verb} {value_name(index, made.id)}: {old} → {new}"
    name = result_name(index, op)
    title = symbols.op_title(op)
    return (
        tr("{title} made {name} = {new}", title=title, name=name, new=new)
        if name
        else tr("{title} made {new}", title=title, new=new)
    )


def _node(index: Index, number: int) -> str:
    tape = index.tape
    execution = tape.executions[number]
    received = [s for s in execution.received if s is not None]
    got = [snapshot_text.gradient(index.snapshot(s)) for s in received[:MAX_LISTED]]
    received_text = (
        _few(got, len(received)) if len(received) > MAX_LISTED else tr(" and ").join(got)
    )
    text_ = tr(
        "{name} received {value}",
        name=index.nodes[execution.node].name,
        value=received_text or "nothing",
    )
    sent = [tape.edges[e] for e in execution.edges if tape.edges[e].gradient is not None]
    if not sent:
        return text_
    shares = [
        tr(
            "{gradient} to {edge_target_name}",
            gradient=snapshot_text.gradient(index.snapshot(edge.gradient)),
            edge_target_name=edge_target_name(index, edge),
        )
        for edge in sent[:MAX_LISTED]
    ]
    return tr("{text}, sent {few}", text=text_, few=_few(shares, len(sent)))


def _accumulated(index: Index, number: int) -> str:
    accumulation = index.tape.accumulations[number]
    at = index.accumulate_events[number]
    shares = [
        a.snapshot
        for a in index.arrivals[index.first_version(accumulation.leaf), 0]
        if a.run == accumulation.run and a.event < at
    ]
    if len(shares) == 1 and accumulation.sent is not None:
        shares = [accumulation.sent]  # a hook may have changed it on the way
    before = index.snapshot(accumulation.before)
    array = before.array() if before is not None else None
    parts = (
        []
        if accumulation.before is None or (array is not None and not array.any())
        else [accumulation.before]
    )
    total = snapshot_text.gradient(index.snapshot(accumulation.after))
    name = value_name(index, accumulation.leaf)
    if len(parts + shares) < 2:
        return f"{name}.grad = {total}"
    parts += shares
    written = sum_text([snapshot_text.gradient(index.snapshot(s)) for s in parts[:MAX_LISTED]])
    if len(parts) > MAX_LISTED:
        written = (
            written
            + " + "
            + ngettext("{count:,} other", "{count:,} others", len(parts) - MAX_LISTED)
        )
    return tr("{name}.grad: {written} = {total}", name=name, written=written, total=total)


def _call_caption(call: Call, enters: bool) -> str:
    name = f"{call.name} ({call.kind})" if call.name else call.kind
    return tr("Entering {name}", name=name) if enters else tr("Leaving {name}", name=name)


def _rare(index: Index, event: Event) -> str:
    tape = index.tape
    if event.kind in ("enter", "leave"):
        return _call_caption(tape.calls[event.ref], event.kind == "enter")
    if event.kind == "backward":
        roots = tape.passes[event.ref].roots
        names = [value_name(index, root) for root in roots if root is not None]
        start = tr("ackward starts at {value}", value=_listed(names) or tr("its root"))
        asks = tape.passes[event.ref].kind == "grad" and tape.passes[event.ref].inputs
        return f"{passes.title(index, event.ref)}: b{start}" if asks else f"B{start}"
    if event.kind == "end":
        asks = tape.passes[event.ref].kind == "grad" and tape.passes[event.ref].inputs
        return (
            tr("{title} is done", title=passes.title(index, event.ref))
            if asks
            else tr("Backward is done")
        )
    if event.kind == "step":
        return _step(index, event.ref)
    if event.kind == "zero_grad":
        reset = tape.resets[event.ref]
        names = [f"{value_name(index, leaf)}.grad" for leaf in reset.leaves]
        to = "None" if reset.to_none else "0"
        return (
            tr("{listed} set to {to}", listed=_listed(names), to=to)
            if names
            else tr("No gradient to reset")
        )
    if event.kind == "write":
        return _written(index, event.ref)
    if event.kind == "grad":
        changes = tape.rewrites[event.ref]
        if len(changes) == 1:
            leaf, after = changes[0]
            now = snapshot_text.gradient(index.snapshot(after))
            return tr(
                "{value_name}.grad is changed by the program: now {now}",
                value_name=value_name(index, leaf),
                now=now,
            )
        names = [f"{value_name(index, leaf)}.grad" for leaf, _ in changes]
        return tr("{listed} are changed by the program", listed=_listed(names))
    if event.kind == "gap":
        gap = tape.gaps[event.ref]
        return tr("{steps_text} passed", steps_text=steps_text(gap))
    if event.kind == "print":
        return tr("Printed {text}", text=tape.prints[event.ref].strip()[:80])
    return f"{tape.error.type}: {tape.error.message}" if tape.error else tr("An error was raised")


def steps_text(gap: Gap) -> str:
    """Return the steps of a gap, as ``Steps 12 to 40``."""
    if gap.first == gap.last:
        return tr("Step {first:,}", first=gap.first)
    return tr("Steps {first:,} to {last:,}", first=gap.first, last=gap.last)


def _step(index: Index, number: int) -> str:
    step = index.tape.steps[number]
    moved = []
    for change in step.changes:
        old = index.snapshot(index.values[change.before].snapshot)
        new = index.snapshot(index.values[change.after].snapshot)
        name = value_name(index, change.before)
        if new is not None and new.numel <= snapshot_text.MAX_WRITTEN_ELEMENTS:
            moved.append(f"{name} {snapshot_text.value(old)} → {snapshot_text.value(new)}")
        else:
            moved.append(name)
    if not moved:
        return tr("{optimizer} stepped and changed nothing", optimizer=step.optimizer)
    return tr(
        "{optimizer} stepped: {join}{value}",
        optimizer=step.optimizer,
        join=", ".join(moved[:6]),
        value=(", …" if len(moved) > 6 else ""),
    )


def _written(index: Index, number: int) -> str:
    changes = index.tape.writes[number]
    if len(changes) > 1:
        return tr(
            "{listed} are changed",
            listed=_listed([value_name(index, change.before) for change in changes]),
        )
    old, new = (
        snapshot_text.value(index.snapshot(index.values[value].snapshot))
        for value in (changes[0].before, changes[0].after)
    )
    return tr(
        "{value_name} is changed: {old} → {new}",
        value_name=value_name(index, changes[0].before),
        old=old,
        new=new,
    )


def sum_text(parts: list[str]) -> str:
    """Return ``48 + 16`` or ``48 − 16`` for numbers that are already formatted."""
    return parts[0] + "".join(
        f" {formatting.MINUS} {part[1:]}" if part.startswith(formatting.MINUS) else f" + {part}"
        for part in parts[1:]
    )


def _listed(parts: list[str]) -> str:
    return _few(parts, len(parts))


def _few(parts: list[str], count: int) -> str:
    """Return the first of ``count`` parts as a list, and the number of the others."""
    if count > MAX_LISTED:
        others = ngettext("{count:,} other", "{count:,} others", count - MAX_LISTED + 1)
        return tr("{join} and {others}", join=", ".join(parts[: MAX_LISTED - 1]), others=others)
    return (
        tr(" and ").join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
    )
