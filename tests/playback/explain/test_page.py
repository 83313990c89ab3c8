import pytest

from gradscribe.playback.explain import ExplanationRow, explain
from gradscribe.playback.explain.page import MAX_ROWS


def end(tape):
    return len(tape.events)


def event_of_execution(tape, number):
    return next(at for at, e in enumerate(tape.events) if e.kind == "node" and e.ref == number)


def op_named(tape, name):
    return next(
        n for n, op in enumerate(tape.ops) if any(
            v.name == name for v in tape.values if v.id in op.outputs
        )
    )  # fmt: skip


def test_the_sum_in_the_middle_of_a_neuron_reads_as_in_the_picture(neuron):
    number = op_named(neuron, "n")
    run = next(n for n, e in enumerate(neuron.executions) if e.node == neuron.ops[number].node)
    found = explain(neuron, op=number, position=event_of_execution(neuron, run) + 1)
    assert found.title == "AddBackward0 hands on its gradient"
    assert found.step == "Backward · node 4 of 7"
    assert found.words == "A sum hands its gradient on unchanged to every input"
    assert found.formula == "n = x₁*w₁ + x₂*w₂ + b"
    assert found.rows == (
        ExplanationRow("∂L/∂n", "from tanh", "0.2071"),
        ExplanationRow("∂L/∂(x₁*w₁ + x₂*w₂)", "= ∂L/∂n × 1", "0.2071", True),
        ExplanationRow("∂L/∂b", "= ∂L/∂n × 1", "0.2071", True),
    )
    assert found.source.line == 5


def test_shares_are_only_emphasised_while_they_run(neuron):
    found = explain(neuron, op=0, position=end(neuron))
    assert not any(row.emphasised for row in found.rows)


def test_before_it_ran_an_op_has_no_result(fan):
    found = explain(fan, op=0, position=0)
    assert [row.number for row in found.rows] == ["…", "…", "…"]


def test_after_forward_an_op_shows_its_numbers(fan):
    found = explain(fan, op=0, position=3)
    assert [(row.label, row.number) for row in found.rows] == [
        ("x", "2.0000"), ("y", "3.0000"), ("z", "6.0000"),
    ]  # fmt: skip
    assert found.title == "mul makes z"


def test_a_leaf_tells_the_sum_its_gradient_is(fan):
    found = explain(fan, value=fan.values[0].id, position=end(fan))
    told = [(row.label, row.text, row.number) for row in found.rows]
    assert told[1:4] == [
        ("part of ∂loss/∂x", "from add", "16.0000"),
        ("part of ∂loss/∂x", "from mul", "48.0000"),
        ("∂loss/∂x", "= 16 + 48", "64.0000"),
    ]
    assert told[-1][0] == "x.grad"
    assert told[-1][2] == "64.0000"


def test_a_second_pass_is_added_to_what_was_there(recorded):
    tape = recorded("x = param(2.0)\ny = x ** 3\ny.backward(retain_graph=True)\ny.backward()")
    found = explain(tape, value=tape.values[0].id, position=end(tape))
    assert [(r.text, r.number) for r in found.rows[-2:]] == [
        ("before", "12.0000"), ("afterwards", "24.0000"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reset", "shown"), [("x.grad = None", "None"), ("x.grad.zero_()", "0"), ("pass", "4.0000")]
)
def test_a_gradient_that_was_reset_is_not_said_to_come_yet(recorded, reset, shown):
    tape = recorded(f"x = param(2.0)\ny = x * x\ny.backward()\n{reset}\nz = x + 1")
    leaf = tape.values[0].id
    before = explain(tape, value=leaf, position=0)
    assert before.rows[-1].number == "None yet"
    assert explain(tape, value=leaf, position=end(tape)).rows[-1].number == shown


def test_a_linear_layer_tells_its_three_products(mlp):
    number = next(n for n, op in enumerate(mlp.ops) if op.op == "linear" and n > 0)
    found = explain(mlp, op=number, position=end(mlp))
    shares = {row.label.rsplit("∂", 1)[1]: row.text for row in found.rows[1:]}
    assert shares["weight"].endswith("[(8×16) · (16×8)]")
    assert shares["bias"].endswith("summed over the batch  [(16×8) → (8)]")
    assert any(text.endswith("[(16×8) · (8×8)]") for text in shares.values())


def test_what_a_composite_has_not_sent_yet_is_pending(mlp):
    number = next(n for n, op in enumerate(mlp.ops) if op.op == "linear")
    main = next(n for n, e in enumerate(mlp.executions) if e.node == mlp.ops[number].node)
    found = explain(mlp, op=number, position=event_of_execution(mlp, main) + 1)
    numbers = {row.label.rsplit("∂", 1)[1]: row.number for row in found.rows}
    assert numbers["weight"] == "…"
    assert numbers["bias"] != "…"


def test_a_changed_gradient_names_the_hook(recorded):
    tape = recorded(
        "a = param(1.0)\nb = a * 2\nb.register_hook(lambda g: g * 10)\n(b * 3).backward()"
    )
    found = explain(tape, op=0, position=end(tape))
    assert ("changed by a hook", "30.0000") in [(row.text, row.number) for row in found.rows]


def test_an_op_without_a_rule_still_tells_what_it_sent(recorded):
    tape = recorded("x = param(0.5)\ny = torch.special.i0(x)\ny.backward()")
    found = explain(tape, op=0, position=end(tape))
    assert found.words
    assert "i1(x)" in found.rows[-1].text
    sent = next(e for e in tape.edges if e.execution is not None)
    assert found.rows[-1].number == f"{tape.snapshots[sent.gradient].item():.4f}"


def test_a_sum_is_not_explained_as_a_mean(recorded):
    tape = recorded(
        "p = torch.ones(4, requires_grad=True)\n"
        "l = F.mse_loss(p, torch.zeros(4), reduction='sum')\nl.backward()"
    )
    found = explain(tape, op=0, position=end(tape))
    assert "sum of" in found.formula
    assert "÷" not in " ".join(row.text for row in found.rows)


def test_under_no_grad_it_is_said_that_nothing_comes_back(recorded):
    tape = recorded("x = param(1.0)\nwith torch.no_grad():\n    y = x * 2")
    assert "no_grad" in explain(tape, op=0, position=end(tape)).words


def test_the_run_of_a_node_is_explained_by_its_op(fan):
    by_run = explain(fan, execution=1, position=end(fan))
    by_op = explain(fan, op=1, position=end(fan))
    assert by_run == by_op


def test_every_thing_on_a_tape_can_be_explained_at_every_position(
    neuron, mlp, by_hand, optimizer, recorded
):
    error = recorded("x = torch.randn(2, 3, requires_grad=True)\nh = x * 2\ny = h @ h")
    for tape in (neuron, mlp, by_hand, optimizer, error, recorded("")):
        positions = {0, end(tape) // 2, end(tape)}
        for position in positions:
            for number in range(len(tape.ops)):
                assert explain(tape, op=number, position=position).formula
            for value in tape.values:
                assert explain(tape, value=value.id, position=position).title
            for number in range(len(tape.executions)):
                assert explain(tape, execution=number, position=position).title
        assert explain(tape, position=0).title


@pytest.mark.parametrize(
    "body",
    [
        "z, y = torch.max(x, 0)\ns = z.sum()",
        "s = torch.cat([x, x]).sum()",
        "a, b = x.split(1)\ns = (a * b).sum()",
        "s = torch.einsum('ij,kj->ik', x, x).sum()",
        "s = F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=0.1)",
        "s = x[0, 1] * 2",
    ],
)
def test_all_kinds_of_calls_have_an_explanation(recorded, body):
    tape = recorded(f"x = torch.rand(2, 3, requires_grad=True)\n{body}\ns.backward()")
    assert tape.status == "ok"
    for number in range(len(tape.ops)):
        found = explain(tape, op=number, position=end(tape))
        assert found.formula
        assert found.words
        assert all(row.number for row in found.rows)


def test_of_many_operands_and_shares_some_are_told_and_the_others_counted(recorded):
    tape = recorded("xs = [param(1.0) for _ in range(40)]\ny = torch.stack(xs)\ny.sum().backward()")
    before = explain(tape, op=0, position=event_of_op(tape, 0) + 1)
    named = ", ".join(f"xs[{n}]" for n in range(MAX_ROWS))
    assert before.formula == f"y = {named}, …, stacked"
    assert [row.label for row in before.rows][MAX_ROWS:] == ["and 24 more operands", "y"]
    after = explain(tape, op=0, position=end(tape))
    sent = [row for row in after.rows if row.text.startswith("=")]
    assert [row.number for row in sent] == ["1.0000"] * MAX_ROWS
    assert after.rows[-1].label == "and 24 more shares"


def test_a_sum_of_many_shares_tells_some_of_them_and_the_whole(recorded):
    tape = recorded("x = param(1.0)\nsum([x] * 40).backward()")
    value = next(v.id for v in tape.values if v.name == "x")
    rows = explain(tape, value=value, position=end(tape)).rows
    assert sum(row.label == "part of ∂L/∂x" for row in rows) == MAX_ROWS
    assert ExplanationRow("and 24 more shares", "", "") in rows
    assert ExplanationRow("∂L/∂x", "= the sum of all 40", "40.0000") in rows


def test_of_many_results_some_are_told(recorded):
    tape = recorded("x = torch.ones(40, requires_grad=True)\nsum(x.unbind()).backward()")
    rows = explain(tape, op=0, position=end(tape)).rows
    assert ExplanationRow("and 24 more gradients", "", "") in rows
    assert len(rows) < 2 * MAX_ROWS


def event_of_op(tape, number):
    return next(at for at, e in enumerate(tape.events) if e.kind == "op" and e.ref == number)
