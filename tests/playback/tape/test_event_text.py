import pytest
from msgspec.structs import replace

from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import Index


def told(tape):
    index = Index(tape)
    return [event_text.ledger_text(index, at) for at in range(len(tape.events))]


def captions(tape):
    index = Index(tape)
    return [event_text.caption(index, at) for at in range(len(tape.events))]


def test_a_neuron_is_told_as_one_would_tell_it(fan):
    assert told(fan)[2:] == [
        "mul made z = 6.0000",
        "add made w = 8.0000",
        "pow made loss = 64.0000",
        "Backward starts at loss",
        "PowBackward0 received 1.0000, sent 16.0000 to w",
        "AddBackward0 received 16.0000, sent 16.0000 to z and 16.0000 to x",
        "MulBackward0 received 16.0000, sent 48.0000 to x and 32.0000 to y",
        "x.grad: 16.0000 + 48.0000 = 64.0000",
        "y.grad = 32.0000",
        "Backward is done",
    ]


def test_a_gradient_that_nothing_was_sent_to_is_told(fan):
    nothing = replace(fan.accumulations[0], before=None, sent=None)
    alone = replace(fan, accumulations=(nothing, *fan.accumulations[1:]), executions=(), edges=())
    events = tuple(one for one in fan.events if one.kind != "node")
    assert "x.grad = 64.0000" in told(replace(alone, events=events))


def test_an_optimizer_tells_what_it_moved(recorded):
    tape = recorded(
        "w = param(0.5)\nopt = torch.optim.SGD([w], lr=0.1)\n(w * 0.3).backward()\nopt.step()"
    )
    assert "SGD stepped: w 0.5000 → 0.4700" in told(tape)


def test_a_step_without_gradients_changes_nothing(recorded):
    tape = recorded("w = param(0.5)\nopt = torch.optim.SGD([w], lr=0.1)\nopt.step()")
    assert "SGD stepped and changed nothing" in told(tape)


def test_an_update_by_hand_tells_before_and_after(recorded):
    tape = recorded(
        "w = param(1.0)\n(w * 3).backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad"
    )
    assert "sub_ updated w: 1.0000 → 0.7000" in told(tape)
    assert "w is updated in place" in captions(tape)


def test_a_negative_share_is_taken_away(recorded):
    tape = recorded("x = param(2.0)\ny = -x + 3 * x\ny.backward()")
    (line,) = [line for line in told(tape) if line.startswith("x.grad")]
    assert "− " in line
    assert "+ −" not in line


def test_zeros_left_by_a_reset_are_no_part_of_the_sum(by_hand):
    lines = [line for line in told(by_hand) if ".grad" in line and "=" in line]
    assert not any("0.0000 +" in line or "0.0000 −" in line for line in lines)


def test_captions_are_without_numbers(neuron):
    assert "AddBackward0 hands on its gradient" in captions(neuron)
    assert "b collects its gradient" in captions(neuron)
    assert "mul makes x1*w1" in captions(neuron)


def test_an_error_and_a_print_are_told(recorded):
    tape = recorded("print('hello')\nx = torch.ones(2, 3)\ny = x @ x")
    lines = told(tape)
    assert lines[0] == "Printed hello"
    table = recorded("print(torch.eye(2))")
    # The second line of a matrix is aligned under the first by spaces, which alone mean nothing.
    assert told(table)[1:] == ["Printed tensor([[1., 0.],", "Printed [0., 1.]])"]
    assert lines[-1].startswith("RuntimeError: ")


def test_modules_are_entered_and_left(mlp):
    assert {"Entering net.0 (Linear)", "Leaving net (Sequential)"} <= set(told(mlp))


def test_many_things_are_cut_short():
    assert event_text.sum_text(["16", "48", "−3"]) == "16 + 48 − 3"


@pytest.mark.parametrize("program", ["", "x = param(1.0)", "torch.ones(3).sum()", "1 +"])
def test_no_program_is_too_small(recorded, program):
    tape = recorded(program)
    assert all(told(tape))
    assert all(captions(tape))


MANY = "xs = [param(float(i)) for i in range(40)]\ny = torch.stack(xs)\n(2 * y).sum().backward()"


def test_of_many_gradients_some_are_told_and_the_others_counted(recorded):
    said = next(one for one in told(recorded(MANY)) if one.startswith("StackBackward0"))
    assert "sent 2.0000 to " in said
    assert said.count("2.0000 to ") == 5
    assert said.endswith(" and 35 others")


def test_of_many_shares_some_are_added_in_words(recorded):
    tape = recorded("x = param(1.0)\nsum([x] * 40).backward()")
    said = next(one for one in told(tape) if one.startswith("x.grad"))
    assert (
        said == "x.grad: 1.0000 + 1.0000 + 1.0000 + 1.0000 + 1.0000 + 1.0000 + 34 others = 40.0000"
    )
