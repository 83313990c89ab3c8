"""Scalars of a running program, read from its log and compared with plain torch."""

import pytest
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.record.log import EventRow
from gradscribe.engine.run.live import live_scalars, scalar_sender
from gradscribe.engine.run.run import execute

LOOP = """\
w = torch.tensor(5.0, requires_grad=True)
for i in range(50):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


def plain(rounds):
    w, found = torch.tensor(5.0, requires_grad=True), []
    for _ in range(rounds):
        loss = (w - 3) ** 2
        loss.backward()
        found.append(loss.item())
        with torch.no_grad():
            w -= 0.01 * w.grad
        w.grad = None
    return found


class Watched:
    """Takes the place of the process's sender and keeps what it was given."""

    def watch(self, reader):
        self.log, self.reader = reader._log, reader


@pytest.fixture
def watched(monkeypatch):
    made = Watched()
    monkeypatch.setattr(scalar_sender, "current", made)
    return made


def read(watched, source):
    execute(Run(1, source))
    return watched.reader.read()


def test_the_loss_of_a_loop_is_read_to_the_bit(watched):
    found = {one.line: one for one in read(watched, LOOP)}
    loss = found[3]
    assert list(loss.numbers) == plain(50)[: len(loss.numbers)]
    assert len(loss.numbers) == 50
    assert (loss.called, loss.dtype) == (4, "float32")
    assert all(type(watched.log.events[at - 1]) is EventRow for at in loss.positions)
    assert watched.reader.read() == ()
    assert 6 not in found  # the parameter itself


def test_the_loss_of_a_loop_that_is_recorded_in_part_has_all_steps_in_order(watched):
    execute(Run(1, LOOP.replace("50", "900"), full_events=400))
    assert any(event.kind == "gap" for event in watched.log.events)
    loss = next(one for one in watched.reader.read() if one.line == 3)
    assert list(loss.numbers) == plain(900)


def test_what_was_read_is_not_read_again(watched, monkeypatch):
    monkeypatch.setattr(live_scalars, "EVENTS_AT_ONCE", 60)
    numbers = list(next(one for one in read(watched, LOOP) if one.line == 3).numbers)
    first = len(numbers)
    while found := watched.reader.read():
        numbers += next((one.numbers for one in found if one.line == 3), ())
    assert 3 <= first < len(numbers)
    assert numbers == plain(50)


def test_only_the_last_scalar_of_a_line_counts(watched):
    found = read(
        watched, "x = torch.tensor(2.0)\nfor i in range(15):\n    y = ((x + i) * 3).exp()\n"
    )
    (one,) = (one for one in found if one.line == 3)
    x = torch.tensor(2.0)
    # The line after the last is not there: what it may still take is not yet sent.
    assert list(one.numbers) == [((x + i) * 3).exp().item() for i in range(15)][: len(one.numbers)]
    assert len(one.numbers) >= 14


def test_what_is_computed_before_the_loss_is_never_sent_without_it(watched, monkeypatch):
    source = LOOP.replace("loss = (w - 3) ** 2", "fit = (w - 3) ** 2\n    loss = fit + w.abs()")
    # Read event by event, as if the program were that slow.
    monkeypatch.setattr(live_scalars, "EVENTS_AT_ONCE", 1)
    execute(Run(1, source))
    reads = [watched.reader.read() for _ in watched.log.events]
    first = next(filter(None, reads))
    assert [(one.line, one.called, len(one.numbers)) for one in first] == [(3, 0, 3), (4, 5, 3)]


def test_tensors_booleans_and_complex_numbers_are_left_out(watched):
    source = (
        "x = torch.ones(3)\nz = torch.tensor(1j)\nfor i in range(15):\n"
        "    a = x * i\n    b = x.sum() > i\n    c = z * i\n    x.add(1)\n"
    )
    assert [one.line for one in read(watched, source) if one.line in (4, 6, 7)] == []


def test_fewer_rounds_than_a_curve_needs_are_not_sent(watched):
    assert read(watched, "x = torch.tensor(1.0)\nfor i in range(2):\n    y = x * i\n") == ()


def test_a_program_that_replaces_item_changes_nothing(watched):
    replaced = "kept = torch.Tensor.item\ntorch.Tensor.item = lambda t: 1 / 0\n"
    try:
        found = read(watched, replaced + LOOP + "torch.Tensor.item = kept\n")
    finally:
        assert torch.Tensor.item is live_scalars._item
    numbers = next(one.numbers for one in found if one.line == 5)
    assert list(numbers) == plain(50)
