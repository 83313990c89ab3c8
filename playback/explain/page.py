"""Explanation of an op, a value or a node's run: a formula, a sentence, and rows of numbers."""

import re
from itertools import islice

from msgspec import Struct

from gradscribe.engine.protocol.tape import Execution, Formula, Node, Op, Place, Tape, Value
from gradscribe.playback.explain import einsum, from_torch, naming
from gradscribe.playback.explain.broadcast import broadcast_sentences, broadcast_table, is_broadcast
from gradscribe.playback.explain.formula import formula, reduction
from gradscribe.playback.explain.local_derivative import edges_of, local_derivative, slope_at
from gradscribe.playback.explain.naming import KEYS, TemplateNames
from gradscribe.playback.explain.rule import Rule, Share
from gradscribe.playback.lab.axes import AxisTable
from gradscribe.playback.tape import event_text, operands, passes, snapshot_text
from gradscribe.playback.tape.index import Arrival, Index, index_of
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import tr

MAX_ROWS = len(KEYS)
"""Most operands, shares or results with a row each; the others are counted."""


class ExplanationRow(Struct, frozen=True):
    """A number and its origin: ``∂L/∂s``, ``= ∂L/∂n × 1``, ``0.2071``."""

    label: str
    text: str
    number: str
    emphasised: bool = False


class Explanation(Struct, frozen=True):
    """Content of the inspector for an op, value or node. ``source`` is its line in the program."""

    title: str
    formula: str = ""
    words: str = ""
    rows: tuple[ExplanationRow, ...] = ()
    source: Place = Place()
    axes: AxisTable | None = None
    """Table of the axes that broadcasting stretched, and of the summed gradients."""
    origin: str = ""
    """Source of the gradient's formula in torch; empty for none."""
    step: str = ""
    """Position in the pass: ``Backward · node 4 of 9``; empty in forward."""


def explain(
    tape: Tape | Index,
    *,
    op: int | None = None,
    value: int | None = None,
    execution: int | None = None,
    position: int,
) -> Explanation:
    """Explain an op, a value or the run of a backward node, as known after ``position`` events.

    The first of ``execution``, ``op`` (both indices in the tape) and ``value`` (an id) that is
    given counts. A value that an op made is explained by that op.
    """
    index = index_of(tape)
    if execution is not None:
        run = index.tape.executions[execution]
        made_by = index.node_ops.get(run.node)
        if made_by is None:
            return _node_without_op(index, run)
        return _backward(index, made_by, run, position)
    if op is None and value is not None:
        made = index.values[value]
        own = made.op is not None and made.role != "parameter"
        if not own or made.op is None or not index.op(made.op).outputs:
            return _leaf(index, made, position)
        op = made.op
    if op is None:
        return Explanation(tr("Nothing is selected"))
    node = index.op(op).node
    run_ = index.execution_at(node, position) if node is not None else None
    return _forward(index, op, position) if run_ is None else _backward(index, op, run_, position)


def _forward(index: Index, number: int, position: int) -> Explanation:
    op = index.op(number)
    names, rule = naming.template_names(index, op), naming.rule_of(index, op)
    reached = index.op_events.get(number, position) < position
    rows = []
    given = operands.operands(op)
    for key, arg in zip(KEYS, given, strict=False):
        if arg.value is not None:
            value = index.values[arg.value]
            born = index.created_at.get(value.id, -1) < position
            shown = snapshot_text.value(index.snapshot(value.snapshot)) if born else "…"
            rows.append(ExplanationRow(names[key], _made_by(index, value), shown))
    rows += _others(len(given), "operand")
    for output in op.outputs[:4]:
        value = index.values[output]
        label = naming.name_of(index, value) or names["y"]
        shown = snapshot_text.value(index.snapshot(value.snapshot)) if reached else "…"
        active = index.op_events.get(number) == position - 1
        rows.append(ExplanationRow(label, f"= {symbols.op_title(op)}", shown, active))
    title = tr(
        "{op_title} makes {value}",
        op_title=symbols.op_title(op),
        value=event_text.result_name(index, op) or "a result",
    )
    if op.inplace:
        title = tr(
            "{op_title} changes {value_name} in place",
            op_title=symbols.op_title(op),
            value_name=event_text.value_name(index, op.outputs[0]),
        )
    return Explanation(
        title,
        formula(op, rule, names),
        _words(index, op, rule),
        tuple(rows),
        op.place,
        broadcast_table(index, op, rule),
    )


def _words(index: Index, op: Op, rule: Rule | None) -> str:
    cut = ""
    if not op.grad_mode:
        cut = tr("Under no_grad: no gradient comes back")
    elif not any(index.values[v].requires_grad for v in op.outputs):
        cut = tr("Nothing here requires a gradient, so none comes back")
    if rule is None:
        node = index.nodes[op.node].name if op.node is not None else ""
        sentence = (
            tr(
                "{node} hands its gradient on to the inputs of {op_title}",
                node=node,
                op_title=symbols.op_title(op),
            )
            if node
            else ""
        )
        if node == f"{op.op}Backward":
            sentence = tr(
                "{op} is the program's own: it sends what its backward() returns", op=op.op
            )
        return ". ".join(filter(None, (sentence, cut)))
    parts = [rule.words, *broadcast_sentences(index, op, rule), cut]
    return ". ".join(filter(None, parts))


def _backward(index: Index, number: int, run: Execution, position: int) -> Explanation:
    op = index.op(number)
    names, rule = naming.template_names(index, op), naming.rule_of(index, op)
    loss = root_name(index, run.run)
    above = f"∂{loss}/∂{names.atom('y')}"
    main = index.execution_in_pass(op.node, run.run) or run
    rows = _received(index, op, main, above)
    edges = edges_of(index, number)
    for edge, operand in islice(edges.items(), MAX_ROWS):
        row = _share(index, rule, names, edge, operand, (above, loss, run.run, position))
        if row is not None:
            rows.append(row)
    rows += _others(len(edges), "share")
    node = index.nodes[run.node].name
    sends = any(index.tape.edges[e].gradient is not None for e in run.edges)
    title = (
        tr("{name} hands on its gradient", name=node)
        if sends
        else tr("{name} received its gradient", name=node)
    )
    order = index.run_executions[run.run]
    here = next(i for i, n in enumerate(order, 1) if index.tape.executions[n] is run)
    return Explanation(
        title,
        formula(op, rule, names),
        _words(index, op, rule),
        tuple(rows),
        op.place,
        broadcast_table(index, op, rule, loss),
        from_torch.formula_source(index, index.nodes[run.node]),
        tr("Backward · node {here} of {order_count}", here=here, order_count=len(order)),
    )


def _others(count: int, what: str) -> list[ExplanationRow]:
    """Return a row with the number of the items without a row, if there are any."""
    more = count - MAX_ROWS
    return (
        [ExplanationRow(tr("and {count}", count=formatting.count(more, f"more {what}")), "", "")]
        if more > 0
        else []
    )


def _received(index: Index, op: Op, run: Execution, above: str) -> list[ExplanationRow]:
    """Return rows for the received gradient: one per share, and their sum if there are several."""
    at = next((at for at, n in index.node_runs[run.node] if index.tape.executions[n] is run), -1)
    rows: list[ExplanationRow] = []
    outputs = [(index.values[v].node, index.values[v].output_nr, v) for v in reversed(op.outputs)]
    made_at = {nr: value for node, nr, value in outputs if node == run.node}
    received = [(nr, got) for nr, got in enumerate(run.received) if got is not None]
    for nr, got in received[:MAX_ROWS]:
        made = made_at.get(nr)
        label = above
        if nr and made is not None:
            label = above.rsplit("∂", 1)[0] + "∂" + event_text.value_name(index, made)
        shares = [
            a for a in index.arrivals.get((run.node, nr), []) if a.run == run.run and a.event < at
        ]
        rows.extend(_sum(index, label, shares, got, tr("changed by a hook") if run.hooked else ""))
    return rows + _others(len(received), "gradient")


def _sum(
    index: Index, label: str, shares: list[Arrival], total: int | None, why: str = ""
) -> list[ExplanationRow]:
    written = snapshot_text.gradient(index.snapshot(total))
    if len(shares) == 1 and not why:
        return [ExplanationRow(label, _from(index, shares[0]), written)]
    rows = [
        ExplanationRow(
            tr("part of {label}", label=label) if len(shares) > 1 else label,
            _from(index, a),
            snapshot_text.gradient(index.snapshot(a.snapshot)),
        )
        for a in shares[:MAX_ROWS]
    ]
    if len(shares) > MAX_ROWS:
        rows += _others(len(shares), "share")
        return [
            *rows,
            ExplanationRow(
                label,
                why or tr("= the sum of all {shares_count:,}", shares_count=len(shares)),
                written,
            ),
        ]
    numbers = [naming.scalar(index, a.snapshot) for a in shares]
    if len(shares) > 1 and not why and None not in numbers:
        why = "= " + event_text.sum_text([formatting.trim_zeros(x or 0.0) for x in numbers])
    return [*rows, ExplanationRow(label, why or tr("= the sum of these"), written)]


def _from(index: Index, arrival: Arrival) -> str:
    edge = index.tape.edges[arrival.edge]
    if edge.execution is None:
        return tr("the seed of backward")
    node = index.tape.executions[edge.execution].node
    op = index.node_ops.get(node)
    source = symbols.op_title(index.op(op)) if op is not None else index.nodes[node].name
    return tr("from {source}", source=source)


def _share(
    index: Index,
    rule: Rule | None,
    names: TemplateNames,
    edge: tuple[int, int],
    operand: int,
    about: tuple[str, str, int, int],
) -> ExplanationRow | None:
    """Return the row of the gradient sent to an operand; None if nothing is sent."""
    above, loss, run, position = about
    node, slot = edge
    execution = index.execution_in_pass(node, run)
    if execution is None:
        return None
    at = next(at for at, n in index.node_runs[node] if index.tape.executions[n] is execution)
    number = next((e for e in execution.edges if index.tape.edges[e].slot == slot), None)
    gradient = index.tape.edges[number].gradient if number is not None else None
    if number is None or gradient is None:
        return None
    label = f"∂{loss}/∂{names.atom(KEYS[min(operand, len(KEYS) - 1)])}"
    if _is_part(index, number):
        label = tr("part of {label}", label=label)
    derivation = _derivation(index, rule, names, operand, above, number)
    derivation = derivation or _by_table(index, (node, slot), names, above)
    inner = tr(", one of its steps") if index.op(index.node_ops[node]).node != node else ""
    derivation = derivation or tr(
        "= sent by {name}{inner}", name=index.nodes[node].name, inner=inner
    )
    if at >= position:
        return ExplanationRow(label, derivation, "…")
    return ExplanationRow(
        label, derivation, snapshot_text.gradient(index.snapshot(gradient)), at == position - 1
    )


def _is_part(index: Index, number: int) -> bool:
    """Return whether an edge's gradient is one of several that are summed at their target."""
    edge = index.tape.edges[number]
    found = index.arrivals.get(index.target(edge.target, edge.input_nr), ())
    return sum(1 for arrival in found if arrival.run == edge.run) > 1


def _derivation(
    index: Index, rule: Rule | None, names: TemplateNames, operand: int, above: str, number: int
) -> str:
    """Return ``= ∂L/∂n × (1−o²)``, or a matrix product with its shapes; "" if unknown."""
    edge = index.tape.edges[number]
    if rule is None or edge.execution is None:
        return ""
    node = index.tape.executions[edge.execution].node
    op = index.op(index.node_ops[node])
    scalars = slope_at(index, node, edge.slot)
    if scalars is not None and local_derivative(index, number) is None:
        return ""  # the derivative does not fit the recorded numbers
    if op.op == "einsum":
        return einsum.gradient_formula(op, names, operand, above)
    if scalars is None and operand < len(rule.shares):
        return _product(index, op, rule.shares[operand], names.with_values(g=above), operand)
    if operand >= len(rule.slopes):
        return ""
    template = rule.slopes[operand].written(
        scalars[2] if scalars else naming.partial_numbers(index, op)
    )
    if not template:
        return ""
    summed = tr(", summed") if rule.stretches and is_broadcast(index, op, operand) else ""
    factor = naming.parenthesize_slope(names.fill(template))
    # torch's gradients are conjugated, so that the loss decreases along minus the gradient.
    if "complex" in index.values[op.outputs[0]].dtype and "{" in template:
        factor = f"conj({factor.removeprefix('(').removesuffix(')')})"
    return f"= {above} × {factor}{summed}"


def _by_table(index: Index, edge: tuple[int, int], names: TemplateNames, above: str) -> str:
    """Return the gradient of an edge as in torch's table of derivatives; "" if it has none."""
    number, slot = edge
    node = index.nodes[number]
    entry = from_torch.formula_of(index, node)
    if entry is None or index.op(index.node_ops[number]).node != number:
        return ""  # the formula of an inner node has tensors that the program does not see
    name = from_torch.edge_argument(entry, len(node.next), slot)
    called = _called(index, node, entry, names, above)
    tensors = {argument for arguments, _ in entry.gradients for argument in arguments}
    written = from_torch.gradient_formula(entry, name, called)
    if any(re.search(rf"\b{argument}\b", written) for argument in tensors - set(called)):
        return ""  # the formula has a tensor without a name in the program
    if written == from_torch.NO_FORMULA:
        return written
    return f"= {written}" if written else ""


def _called(
    index: Index, node: Node, formula: Formula, names: TemplateNames, above: str
) -> dict[str, str]:
    """Return name in torch's formula -> name in the program, as far as known."""
    op = index.op(index.node_ops[node.id])
    called = {"grad": above, "result": names.atom("y")}
    back = edges_of(index, index.node_ops[node.id])
    for slot in range(len(node.next)):
        place = back.get((node.id, slot))
        name = from_torch.edge_argument(formula, len(node.next), slot)
        if place is not None and name and place < len(KEYS):
            called[name] = names.atom(KEYS[place])
    for arg in op.args:
        if arg.keyword in formula.arguments and arg.value is None:
            called[arg.keyword] = arg.text
    return called


def _product(index: Index, op: Op, share: Share, names: TemplateNames, operand: int) -> str:
    """Return the gradient of a tensor operand with shapes; "" if the rule does not apply."""
    if (symbols.is_loss(op.op) and len(op.inputs) > 2) or not share.text:
        return ""  # weights change the formula
    template = share.text
    if reduction(op) not in ("mean", "batchmean"):
        template = template.replace(" ÷ {n}", "").replace(" ÷ N", "")
    written = "= " + names.fill(template)
    arg = operands.operands(op)[operand]
    dims = len(index.values[arg.value].shape) if arg.value is not None else 0
    batched = dims < max(len(index.values[v].shape) for v in op.outputs)
    if "·" in share.shapes and batched and dims > 1:
        return written + tr(", summed over the batch")
    return f"{written}  [{names.fill(share.shapes)}]" if share.shapes else written


def _leaf(index: Index, value: Value, position: int) -> Explanation:
    """Explain a value that no op made: its role, and the sum that is its gradient."""
    name = event_text.value_name(index, value.id)
    role = {
        "parameter": tr("A parameter: backward adds its gradient into .grad"),
        "data": tr("Input data: it requires no gradient, so none is computed"),
        "constant": tr("A constant: cut off from the graph, no gradient comes back to it"),
        "result": tr("Made before this graph"),
    }[value.role]
    if value.maker == "grad":
        role = _returned_gradient(index, value)
    rows = [
        ExplanationRow(
            name, value.maker or value.role, snapshot_text.value(index.snapshot(value.snapshot))
        )
    ]
    home = index.first_version(value.id)
    last = None
    for at, number in index.accumulated.get(home, ()):
        if at < position:
            last = (at, index.tape.accumulations[number])
    known = index.gradient(value.id, position)
    if last is not None and known.snapshot is not None:
        at, added = last
        loss = root_name(index, added.run)
        shares = [
            a for a in index.arrivals.get((home, 0), []) if a.run == added.run and a.event < at
        ]
        active = at == position - 1
        rows.extend(_sum(index, f"∂{loss}/∂{name}", shares, added.sent))
        if added.before is not None:
            rows.append(
                ExplanationRow(
                    f"{name}.grad", "before", snapshot_text.gradient(index.snapshot(added.before))
                )
            )
        total = snapshot_text.gradient(index.snapshot(added.after))
        rows.append(
            ExplanationRow(
                f"{name}.grad", "afterwards" if added.before is not None else "", total, active
            )
        )
    elif value.role == "parameter":
        # Of a gradient that was there and is not any more "yet" would be wrong.
        none = "0" if known.zeros else tr("None yet") if last is None else "None"
        there = index.snapshot(known.snapshot)
        shown = none if there is None else snapshot_text.gradient(there)
        rows.append(ExplanationRow(f"{name}.grad", "", shown))
    return Explanation(name, name, role, tuple(rows), value.place)


def _returned_gradient(index: Index, value: Value) -> str:
    """Describe a gradient that is a result of the program."""
    written = passes.made_by(index, value)
    what = " ".join(filter(None, (tr("The gradient"), written)))
    if value.node is not None:
        return tr("{what}: made with create_graph, so it can be differentiated again", what=what)
    return tr("{what}: made without create_graph, so no gradient leads through it", what=what)


def _node_without_op(index: Index, run: Execution) -> Explanation:
    """Explain the run of a node whose op was not recorded."""
    name = index.nodes[run.node].name
    rows = [
        ExplanationRow("received", "", snapshot_text.gradient(index.snapshot(got)))
        for got in run.received[:MAX_ROWS]
        if got is not None
    ]
    rows += _others(len(run.received), "gradient")
    for number in run.edges[:MAX_ROWS]:
        edge = index.tape.edges[number]
        sent = snapshot_text.gradient(index.snapshot(edge.gradient))
        rows.append(
            ExplanationRow(
                "sent",
                tr(
                    "to {edge_target_name}",
                    edge_target_name=event_text.edge_target_name(index, edge),
                ),
                sent,
            )
        )
    rows += _others(len(run.edges), "share")
    return Explanation(
        tr("{name} hands on its gradient", name=name),
        "",
        tr("{name} has no op of its own here", name=name),
        tuple(rows),
    )


def _made_by(index: Index, value: Value) -> str:
    if value.op is None or value.role == "parameter":
        return value.role
    return tr("from {source}", source=symbols.op_title(index.op(value.op)))


def root_name(index: Index, run: int) -> str:
    """Return the name of a pass's root, which it differentiates.

    Without a name it is ``L``, or another word if the program has a tensor of that name.
    """
    for root in index.tape.passes[run].roots if 0 <= run < len(index.tape.passes) else ():
        if root is not None and index.values[root].name:
            return index.values[root].name
    return next((word for word in ("L", "loss", "root") if word not in index.names), "output")
