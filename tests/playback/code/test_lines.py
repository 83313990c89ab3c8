import time

from gradscribe.playback.code.lines import LineMark, line_marks


def end(tape):
    return len(tape.events)


def test_each_line_shows_its_value_and_in_the_end_its_gradient(fan):
    found = line_marks(fan, end(fan))
    assert [(m.line, m.name, m.value, m.gradient) for m in found.values() if m.value] == [
        (1, "x", "2.0000", "64.0000"),
        (2, "y", "3.0000", "32.0000"),
        (3, "z", "6.0000", "16.0000"),
        (4, "w", "8.0000", "16.0000"),
        (5, "loss", "64.0000", "1.0000"),
    ]


def test_a_layer_that_is_off_has_no_text_at_a_line(fan):
    texts = [(m.value, m.gradient) for m in line_marks(fan, end(fan)).values()]
    without = line_marks(fan, end(fan), gradients=False)
    assert [(m.value, m.gradient) for m in without.values()] == [(v, "") for v, _ in texts]
    without = line_marks(fan, end(fan), values=False)
    assert [(m.value, m.gradient) for m in without.values()] == [("", g) for _, g in texts]
    assert [m.active for m in without.values()] == [
        m.active for m in line_marks(fan, end(fan)).values()
    ]


def test_lines_that_did_not_run_yet_say_so(fan):
    found = line_marks(fan, 3)
    assert found[3] == LineMark(3, "z", "6.0000", "", True, "forward")
    assert found[4] == LineMark(4, "w", "", "", False)


def test_the_line_that_plays_is_lit_in_its_phase(fan, by_hand):
    assert [m.line for m in line_marks(fan, 7).values() if m.active == "backward"] == [5]
    step = next(n for n, op in enumerate(by_hand.ops) if op.op == "sub_")
    at = next(n for n, e in enumerate(by_hand.events) if e.kind == "op" and e.ref == step)
    assert [m.line for m in line_marks(by_hand, at + 1).values() if m.active == "update"] == [10]


def test_the_line_of_a_leaf_is_lit_when_it_collects_its_gradient(fan):
    at = next(n for n, e in enumerate(fan.events) if e.kind == "accumulate")
    assert line_marks(fan, at + 1)[1].active == "backward"


def test_a_line_in_a_loop_shows_its_latest_value(by_hand):
    losses = [v for v in by_hand.values if v.name == "loss"]
    ends = [n for n, e in enumerate(by_hand.events) if e.kind == "backward"]
    for value, position in zip(losses, ends, strict=True):
        number = by_hand.snapshots[value.snapshot].item()
        assert line_marks(by_hand, position)[7].value == f"{number:.4f}"


def test_a_parameter_shows_what_updates_made_of_it(by_hand):
    last = [v for v in by_hand.values if v.name == "w"][-1]
    number = by_hand.snapshots[last.snapshot].item()
    assert line_marks(by_hand, end(by_hand))[4].value == f"{number:.4f}"


def test_a_line_of_several_ops_shows_what_it_assigned(neuron):
    assert line_marks(neuron, end(neuron))[5].name == "n"


def test_big_values_are_shapes_and_big_gradients_norms(mlp):
    found = line_marks(mlp, end(mlp))
    assert found[3].value == "16 × 2"
    assert found[5].name == "loss"


def test_small_vectors_are_written_out(recorded):
    tape = recorded("x = torch.tensor([1., 2., 3.], requires_grad=True)\n(x * x).sum().backward()")
    assert line_marks(tape, end(tape))[1].value == "[1, 2, 3]"
    assert line_marks(tape, end(tape))[1].gradient == "[2, 4, 6]"


def test_what_hooks_compute_marks_no_line(recorded):
    tape = recorded(
        "a = param(1.0)\nb = a * 2\nb.register_hook(lambda g: g * 10)\n(b * 3).backward()"
    )
    assert 3 not in {m.line for m in line_marks(tape, end(tape)).values() if m.value}


def test_nothing_and_errors_have_marks_too(recorded):
    assert line_marks(recorded(""), 0) == {}
    tape = recorded("x = torch.randn(2, 3)\nh = x * 2\ny = h @ h")
    assert {1, 2} <= set(line_marks(tape, end(tape)))


def test_scrubbing_a_long_tape_is_cheap(recorded):
    tape = recorded("x = param(1.0)\ny = x\nfor i in range(7000):\n    y = y * 0.999\ny.backward()")
    assert len(tape.events) > 14_000
    line_marks(tape, end(tape))
    start = time.process_time()
    for position in range(0, end(tape), 701):
        line_marks(tape, position)
    assert (time.process_time() - start) / (end(tape) // 701) < 0.005
