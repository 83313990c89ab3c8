"""The scalars of a loop, compared with what plain torch computes for the same script."""

import math

import pytest
import torch

from gradscribe.engine.protocol.messages import ComputedScalar
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops import loop_scalars
from gradscribe.playback.tape.loops.loop_scalars import (
    MOST_SERIES,
    GrowingScalars,
    common_rounds,
    find_loop_scalars,
)

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(3)
seen, also = [], []
w = torch.zeros(3, requires_grad=True)
X = torch.randn(20, 3)
y = X @ torch.tensor([1.0, 2.0, 3.0])
opt = torch.optim.SGD([w], lr=0.05)
def step(loss):
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LOOP = """\
for i in range(300):
    loss = ((X @ w - y) ** 2).mean()
    step(loss)
    seen.append(loss.item())
"""
FUNCTION = """\
def mse(w):
    return ((X @ w - y) ** 2).mean()
for i in range(12):
    loss = mse(w)
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item())
    with torch.no_grad():
        val = mse(w * 2)
        also.append(val.item())
"""
LOADER = """\
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
mse = nn.MSELoss()
for epoch in range(4):
    for batch, target in DataLoader(TensorDataset(X, y[:, None]), batch_size=5, shuffle=True):
        loss = mse(net(batch), target)
        step(loss)
        seen.append(loss.item())
    with torch.no_grad():
        val_loss = mse(net(X), y[:, None])
        also.append(val_loss.item())
"""
ITEM = """\
for i in range(7):
    seen.append(((X @ w - y) ** 2 * i).mean().item())
"""
WHILE = """\
l = torch.tensor(9.0)
while l > 0.01:
    l = ((X @ w - y) ** 2).mean()
    step(l)
    seen.append(l.item())
"""
NAN = """\
for i in range(60):
    scale = 1.0 if i < 39 else float("nan")
    loss = ((X @ w - y) ** 2).mean() * scale
    loss.backward()
    seen.append(loss.item())
"""
DOUBLE = """\
v = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
for i in range(5):
    loss = torch.sin(v * i)
    loss.backward()
    seen.append(loss.item())
"""


def series(tape, source):
    steps = find_loop_scalars(index_of(tape), source)
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return ended.value


@pytest.fixture
def both(recorded):
    """Return the series of a script, and the variables of its plain run."""

    def run(body):
        source = HEAD + body
        plain = {}
        exec(compile(source, "plain", "exec"), plain)
        return series(recorded(source), source), plain

    return run


def same(numbers, expected):
    return [n.hex() for n in numbers] == [n.hex() for n in expected]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (LOOP, "loss"),
        (FUNCTION, "loss"),
        (LOADER, "loss"),
        (ITEM, "seen"),
        (WHILE, "l"),
        (NAN, "loss"),
        (DOUBLE, "loss"),
    ],
    ids=["loop", "function", "loader", "item", "while", "nan", "double"],
)
def test_the_first_series_is_the_loss_to_the_bit(both, body, name):
    found, plain = both(body)
    assert found[0].name == name
    assert same(found[0].numbers, plain["seen"])


@pytest.mark.parametrize("body", [FUNCTION, LOADER], ids=["function", "loader"])
def test_a_validation_loss_is_a_series_of_its_own(both, body):
    found, plain = both(body)
    assert any(same(one.numbers, plain["also"]) for one in found[1:])


def test_each_position_is_that_of_its_number(both, recorded):
    (loss, *_), _ = both(LOOP)
    tape = recorded(HEAD + LOOP)
    values = {value.id: value for value in tape.values}
    position = loss.position_of(250)
    event = tape.events[position - 1]
    made = values[tape.ops[event.ref].outputs[0]]
    assert (event.line, made.name) == (loss.line, "loss")
    assert tape.snapshots[made.snapshot].item() == loss.numbers[249]
    assert loss.rounds_at(position) == 250
    assert loss.rounds_at(position - 1) == 249


def test_a_round_outside_the_loop_is_the_nearest_inside(both):
    (loss, *_), _ = both(LOOP)
    assert loss.position_of(-5) == loss.positions[0]
    assert loss.position_of(10**9) == loss.positions[-1]


def test_two_loops_are_two_series(both):
    found, plain = both(LOOP + ITEM)
    assert same(found[0].numbers + found[1].numbers, plain["seen"])
    assert common_rounds(found[0], found[1]) == [1, 2, 3, 4, 5, 6, 7]


def test_the_first_nan_is_known(both):
    found, _ = both(NAN)
    assert found[0].first_bad == 40


def test_a_program_that_fails_has_the_rounds_before(recorded):
    source = HEAD + LOOP + "    if i == 249:\n        raise ValueError('stop')\n"
    tape = recorded(source)
    assert tape.error.type == "ValueError"
    assert len(series(tape, source)[0].numbers) == 250


def test_straight_code_and_two_rounds_make_no_series(recorded):
    for source in ("", HEAD, HEAD + LOOP.replace("300", "2")):
        assert series(recorded(source), source) == ()


def test_at_most_a_handful_is_offered_losses_first(recorded):
    body = "".join(f"    m{k} = (X * i).sum() * {k}\n" for k in range(12))
    source = HEAD + LOOP.replace("300", "4") + body
    found = series(recorded(source), source)
    assert len(found) == MOST_SERIES
    assert found[0].name == "loss"


def test_numbers_of_an_epoch_stand_at_its_last_batch(both):
    found, _ = both(LOADER)
    val = next(one for one in found if one.name == "val_loss")
    assert common_rounds(found[0], val) == [4, 8, 12, 16]
    assert common_rounds(found[0], found[0]) == list(range(1, 17))


def test_several_numbers_between_two_rounds_are_spread(both):
    body = LOOP.replace("300", "4") + "    for k in range(2):\n        acc = (X * k).mean()\n"
    found, _ = both(body)
    acc = next(one for one in found if one.name == "acc")
    assert common_rounds(found[0], acc) == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]


def test_the_exact_text_gives_the_number_back(both):
    found, _ = both(LOOP)
    assert torch.tensor(float(found[0].exact(7))).item() == found[0].numbers[6]
    double, _ = both(DOUBLE)
    assert float(double[0].exact(4)) == math.sin(2.0 * 3)


def test_a_number_that_is_none_has_a_word(both):
    found, _ = both(NAN)
    assert found[0].exact(40) == "NaN"


GROWING = """\
def mse(p):
    return (p ** 2).mean()
for i in range(9):
    loss = mse(w)
    loss.backward()
    (w * 2).sum()
"""


def grown(made, key, line, numbers, called=0, first=1):
    positions = tuple(range(first, first + len(numbers)))
    made.add((ComputedScalar(key, line, called, "float32", tuple(numbers), positions),))


def test_scalars_of_a_running_program_have_names_and_losses_come_first():
    made = GrowingScalars(GROWING)
    grown(made, 0, 6, [1.0] * 5)
    grown(made, 1, 4, [1.0] * 5)
    assert [one.name for one in made.series()] == ["loss"]
    grown(made, 2, 2, [4.0, 3.0, 2.0], called=5)
    first, second = made.series()
    assert (first.name, first.line, first.backward) == ("loss", 2, 1)
    assert (second.name, second.line, second.backward) == ("loss", 4, 0)


def test_what_has_grown_is_appended_and_what_was_given_out_stays():
    made = GrowingScalars(GROWING)
    grown(made, 0, 4, [1.0, 2.0])
    assert made.series() == ()
    grown(made, 0, 4, [3.0], first=3)
    (before,) = made.series()
    grown(made, 0, 4, [math.nan], first=4)
    (after,) = made.series()
    assert before.numbers == [1.0, 2.0, 3.0]
    assert after.positions == [1, 2, 3, 4]
    assert (before.first_bad, after.first_bad) == (0, 4)


def test_an_engine_that_sends_without_end_is_not_stored_without_end(monkeypatch):
    monkeypatch.setattr(loop_scalars, "MOST_GROWING", 10)
    made = GrowingScalars(GROWING)
    for turn in range(5):
        grown(made, 0, 4, [1.0] * 4, first=1 + 4 * turn)
    assert len(made.series()[0].numbers) == 8


def test_a_text_that_is_no_python_has_no_names_and_no_curves():
    made = GrowingScalars("def (")
    grown(made, 0, 1, [1.0] * 5)
    assert made.series() == ()
