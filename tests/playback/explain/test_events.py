"""Explanations of passes, updates, resets, prints and modules, with torch's own numbers."""

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import explain_event, explain_start
from gradscribe.playback.explain.events import MAX_ROWS
from gradscribe.playback.tape.index import Index, index_of

LOOP = """\
torch.manual_seed(0)
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.25)
x = tensor([[1.0]])
for i in range(2):
    opt.zero_grad()
    loss = net(x).pow(2).sum()
    loss.backward()
    opt.step()
    print("loss", loss.item())
"""


def after(tape, kind, nth=0):
    """The explanation of the ``nth`` event of that kind."""
    found = [at for at, event in enumerate(tape.events) if event.kind == kind]
    return explain_event(index_of(tape), found[nth] + 1)


def rows(found):
    return {row.label: (row.text, row.number) for row in found.rows}


def test_a_finished_pass_lists_every_leaf_with_its_gradient():
    tape = record("x = param(-2.)\ny = param(5.)\nz = param(-4.)\nL = (x + y) * z\nL.backward()")
    found = after(tape, "end")
    assert [row.label for row in found.rows[:3]] == ["∂L/∂x", "∂L/∂y", "∂L/∂z"]
    assert [row.number for row in found.rows[:3]] == ["−4.0000", "−4.0000", "3.0000"]
    assert "Click a card" in found.rows[3].text


def test_a_second_pass_into_the_same_leaf_tells_the_sum():
    source = "x = param(3.)\n(x * 2).backward()\n(x * 5).backward()"
    found = after(record(source), "end", 1)
    assert rows(found)["x.grad"] == ("added up", "7.0000")


def test_a_pass_that_gives_back_its_results_says_so():
    found = after(record("x = param(3.)\ny = x * x\ng = torch.autograd.grad(y, x)"), "end")
    assert found.rows == ()
    assert "returned" in found.words


def test_many_leaves_are_counted():
    source = "ws = [param(float(i)) for i in range(20)]\nsum(w * w for w in ws).backward()"
    found = after(record(source), "end")
    assert len(found.rows) == 14
    assert found.rows[-2].text == "and 8 others"


def test_leaves_that_are_only_counted_cost_nothing(monkeypatch):
    source = "ws = [param(float(i)) for i in range(50)]\nsum(w * w for w in ws).backward()"
    tape, asked = record(source), []
    gradient = Index.gradient

    def noted(index, value, position):
        asked.append(value)
        return gradient(index, value, position)

    monkeypatch.setattr(Index, "gradient", noted)
    assert after(tape, "end").rows[-2].text == "and 38 others"
    assert len(asked) == MAX_ROWS


@pytest.mark.parametrize(
    ("call", "words", "seed"),
    [("L.backward()", "is 1", "1.0000"), ("L.backward(tensor(3.))", "was given", "3.0000")],
)
def test_a_beginning_pass_names_its_root_and_seed(call, words, seed):
    found = after(record(f"x = param(2.)\nL = x * x\n{call}"), "backward")
    assert rows(found) == {"∂L/∂L": ("the seed", seed)}
    assert words in found.words


def test_a_step_tells_every_parameter_before_and_after():
    torch.manual_seed(0)
    net = torch.nn.Linear(1, 1)
    old = net.bias.item()
    net(torch.tensor([[1.0]])).pow(2).sum().backward()
    torch.optim.SGD(net.parameters(), lr=0.25).step()
    found = after(record(LOOP), "step")
    assert found.formula == "SGD, learning rate 0.25"
    moved = f"{old:.4f} → {net.bias.item():.4f}".replace("-", "−")
    assert rows(found)["net.bias"] == ("", moved)


def test_a_step_tells_how_far_a_big_parameter_moved():
    source = (
        "w = torch.ones(30, requires_grad=True)\nopt = optim.SGD([w], lr=0.5)\n"
        "w.sum().backward()\nopt.step()"
    )
    assert rows(after(record(source), "step"))["w"] == (f"moved by {0.5 * 30**0.5:.4f}", "30")


@pytest.mark.parametrize(
    ("lr", "size", "said"),
    [
        ("1e-6", 1, ("moved by 1.01e−06", "1.0000")),
        ("1e-9", 1, ("unchanged", "1.0000")),
        ("1e-9", 30, ("unchanged", "30")),
    ],
)
def test_a_step_too_small_for_the_digits_says_so(lr, size, said):
    # float32 has steps of 2**-24 below 1.0: 1 - 1e-6 is 1 - 17 * 2**-24, or 1.01e-6 less.
    source = (
        f"w = torch.ones({size}, requires_grad=True)\nopt = optim.SGD([w], lr={lr})\n"
        "w.sum().backward()\nopt.step()"
    )
    assert rows(after(record(source), "step"))["w"] == said


def test_a_step_without_gradients_says_that_it_did_nothing():
    found = after(record("w = param(1.)\nopt = optim.SGD([w], lr=0.1)\nopt.step()"), "step")
    assert found.rows == ()
    assert "none was changed" in found.words


def test_a_reset_lists_what_it_cleared():
    first, second = (after(record(LOOP), "zero_grad", nth) for nth in (0, 1))
    assert "no gradient to clear" in first.words
    assert rows(second) == {"net.weight.grad": ("", "None"), "net.bias.grad": ("", "None")}


def test_a_print_is_quoted_and_cut():
    assert after(record("print('hello')"), "print").words.startswith("hello\n")
    assert len(after(record("print('a' * 5000)"), "print").words) < 500


def test_a_module_is_described_when_it_is_entered_and_left():
    for kind in ("enter", "leave"):
        found = after(record(LOOP), kind)
        assert found.formula == "Linear(1 → 1)"
        assert rows(found)["parameters"] == ("", "2")


def test_an_error_is_told_with_its_hint():
    tape = record("x = param(1.)\ny = x * x\ny.backward()\ny.backward()")
    found = after(tape, "error")
    assert found.formula == tape.error.type
    assert tape.error.message[:40] in found.words


def test_every_event_of_a_loop_has_something_to_tell():
    tape = record(LOOP)
    told = [e.kind for e in tape.events]
    for at, kind in enumerate(told):
        if kind in ("end", "backward", "step", "zero_grad", "print", "enter", "leave"):
            found = explain_event(index_of(tape), at + 1)
            assert found.title
            assert found.words or found.rows


def test_before_the_first_event_it_says_what_is_to_come():
    found = explain_start(index_of(record(LOOP)))
    assert rows(found)["optimizer steps"] == ("", "2")
    assert "Play" in found.words
    assert explain_start(index_of(record(""))).rows == ()
