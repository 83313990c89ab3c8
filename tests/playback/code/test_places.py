"""Places on a tape by their words."""

import itertools

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.code.places import UnknownPlace, line_of, line_runs, position_of
from gradscribe.playback.tape.index import index_of

LOOP = """\
torch.manual_seed(0)
x = torch.ones(2, 1)
net = nn.Linear(1, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    loss = net(x).mean()
    loss.backward()
    opt.step()
"""


@pytest.fixture(scope="module")
def loop():
    return index_of(record(LOOP))


def kinds(index, words):
    at = position_of(index, words)
    before = index.tape.events[at - 1].kind if at else ""
    after = index.tape.events[at].kind if at < len(index.tape.events) else ""
    return before, after


def test_the_ends_are_the_ends(loop):
    assert position_of(loop, "start") == 0
    assert position_of(loop, "end") == position_of(loop, "") == len(loop.tape.events)


def test_a_pass_begins_and_ends(loop):
    assert kinds(loop, "before backward")[1] == "backward"
    assert kinds(loop, "after backward")[0] == "end"
    assert position_of(loop, "after backward") < position_of(loop, "after backward 2")
    assert position_of(loop, "after backward 2") == position_of(loop, "after backward last")


def test_events_and_lines_are_found(loop):
    assert kinds(loop, "after step") == ("step", "zero_grad")
    assert kinds(loop, "before zero_grad 2")[1] == "zero_grad"
    assert position_of(loop, "before line 8") == position_of(loop, "before backward")
    assert position_of(loop, "after line 8") == position_of(loop, "after backward")
    assert position_of(loop, "after forward") == position_of(loop, "before backward")
    assert position_of(loop, "after loss") == position_of(loop, "before backward")


def test_a_name_is_where_its_tensor_is_made(loop):
    at = position_of(loop, "after loss 2")
    assert position_of(loop, "before loss") < at


def test_a_gradient_is_whole_when_all_its_shares_are_there():
    fan = "x = param(2.0)\ny = x * 3\nz = y * x\nz.backward()\n"
    index = index_of(record(fan))
    at = position_of(index, "after grad x")
    assert index.tape.events[at - 1].kind == "accumulate"
    assert position_of(index, "after grad z") < position_of(index, "after grad y") < at
    with pytest.raises(UnknownPlace):
        position_of(index, "after grad q")


@pytest.mark.parametrize("words", ["after nowhere", "line 3", "after backward 3", "before line 99"])
def test_other_words_name_no_place(loop, words):
    with pytest.raises(UnknownPlace):
        position_of(loop, words)


def test_lines_run_in_the_order_of_the_program(loop):
    lines = [line for line, _, _ in line_runs(loop)]
    assert lines[-8:] == [6, 7, 8, 9, 6, 7, 8, 9]
    spans = [(start, stop) for _, start, stop in line_runs(loop)]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(loop.tape.events)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))


def test_a_backward_node_belongs_to_the_line_that_called_backward(loop):
    at = next(i for i, event in enumerate(loop.tape.events) if event.kind == "node")
    assert line_of(loop, at) == 8
