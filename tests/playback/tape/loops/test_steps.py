"""Steps of tapes: as many as the program's loop has rounds, and the same event in each."""

import pytest

from gradscribe.playback.tape.loops.steps import event_key, same_event, step_marks, steps_of
from tests.programs import uneven

FIT = """\
torch.manual_seed(0)
x = torch.linspace(-1, 1, 8).unsqueeze(1)
y = x * 3
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print("at", step)
    if step == 6:
        opt.param_groups[0]["lr"] = 0.01
"""
BRANCHES = """\
w = torch.tensor([2.0, 3.0], requires_grad=True)
for i in range(10):
    if i % 2:
        loss = (w ** 2).sum()
    else:
        loss = (w - 1).abs().sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
UNEVEN = uneven(12)
TWO_LOOPS = """\
a = torch.tensor(3.0, requires_grad=True)
b = torch.tensor([1.0, 2.0], requires_grad=True)
for k in range(7):
    cost = (a - 1) ** 2
    cost.backward()
    a.grad = None
for k in range(5):
    energy = (b ** 2).sum()
    energy.backward()
    b.grad = None
"""
SHARED = """\
def mse(p, t):
    return ((p - t) ** 2).mean()
w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.ones(6, 2)
for i in range(9):
    loss = mse(x @ w, 1.0)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
        val = mse(x @ w, 1.0)
    print(i, val.item())
"""
GAN = """\
torch.manual_seed(1)
G, D = nn.Linear(2, 1), nn.Linear(1, 1)
og = torch.optim.SGD(G.parameters(), lr=0.01)
od = torch.optim.SGD(D.parameters(), lr=0.01)
for it in range(6):
    fake = G(torch.randn(4, 2))
    d_loss = D(fake.detach()).mean() - D(torch.randn(4, 1)).mean()
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = -D(fake).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
"""
WHILE = """\
x = torch.tensor(5.0, requires_grad=True)
n = 0
while True:
    f = x ** 2 - 2
    (g,) = torch.autograd.grad(f, x)
    with torch.no_grad():
        x -= f / g
    n += 1
    if n == 8:
        break
"""
IN_FUNCTION = """\
def train(w, steps):
    for _ in range(steps):
        loss = (w * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.05 * w.grad
            w.grad.zero_()
train(torch.ones(2, requires_grad=True), 4)
train(torch.ones(3, requires_grad=True), 5)
"""
ALTERNATING = """\
a, b = param(1.0), param(2.0)
for i in range(10):
    if i % 2 == 0:
        loss = (a - b.detach()) ** 2
        loss.backward()
        a.data -= 0.1 * a.grad
        a.grad = None
    else:
        loss = (b - a.detach()) ** 2
        loss.backward()
        b.data -= 0.1 * b.grad
        b.grad = None
"""
MATCHED = """\
w = param(2.0)
for i in range(9):
    match i % 3:
        case 0:
            loss = w ** 2
            loss.backward()
        case 1:
            loss = w * 3
            loss.backward()
        case _:
            loss = w.sin()
            loss.backward()
"""
SILENT = """\
def mse(p, t):
    return ((p - t) ** 2).mean()
w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.ones(6, 2)
for i in range(9):
    loss = mse(x @ w, 1.0)
    loss.backward()
    w.grad = None
    last = mse(x, w).item()
"""
EVALUATED = """\
w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.ones(8, 2)
for epoch in range(3):
    for i in range(4):
        loss = ((x[i] @ w - 1) ** 2)
        loss.backward()
        w.grad = None
    total = 0.0
    for i in range(4):
        with torch.no_grad():
            total += ((x[i] @ w - 1) ** 2)
"""


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (FIT, 12),
        (BRANCHES, 10),
        (UNEVEN, 12),
        (TWO_LOOPS, 12),
        (SHARED, 9),
        (GAN, 6),
        (WHILE, 8),
        (IN_FUNCTION, 9),
        (EVALUATED, 12),
        (ALTERNATING, 10),
        (MATCHED, 9),
        (SILENT, 9),
    ],
)
def test_a_program_has_as_many_steps_as_its_loop_has_rounds(recorded, source, count):
    assert len(steps_of(recorded(source))) == count


@pytest.mark.parametrize("source", [BRANCHES, UNEVEN, TWO_LOOPS, WHILE, SHARED])
def test_every_step_has_one_update_and_ends_with_it(recorded, source):
    tape = recorded(source)
    steps = steps_of(tape)
    last_lines = []
    for number in range(2, len(steps) + 1):
        start, stop = steps.span(number)
        lines = [e.line for e in tape.events[start:stop] if e.kind in ("op", "zero_grad", "print")]
        last_lines.append(lines[-1])
        passes = [e for e in tape.events[start:stop] if e.kind == "backward"]
        assert 1 <= len(passes) <= 2
    assert len(set(last_lines)) <= 2


def test_an_uneven_round_begins_with_its_own_first_line(recorded):
    tape = recorded(UNEVEN)
    steps = steps_of(tape)
    for number in range(2, 13):
        start, _ = steps.span(number)
        assert tape.events[start].line == (4 if (number - 1) % 3 == 0 else 6), number


def test_straight_code_has_no_steps(neuron, mlp):
    for tape in (neuron, mlp):
        steps = steps_of(tape)
        assert len(steps) == 0
        assert steps.number_at(4) == 0
        assert same_event(tape, 4, 2) == 4


def test_every_position_is_in_the_step_of_the_event_before_it(recorded):
    steps = steps_of(recorded(FIT))
    assert steps.number_at(0) == 1
    for number in range(1, 13):
        start, stop = steps.span(number)
        assert steps.number_at(start + 1) == number
        assert steps.number_at(stop) == number
    assert steps.span(12)[1] == steps.length


@pytest.mark.parametrize("number", [2, 5, 11])
def test_the_same_event_does_the_same_in_another_step(recorded, number):
    tape = recorded(FIT)
    steps = steps_of(tape)
    start, stop = steps.span(3)
    for position in range(start + 1, stop):
        there = same_event(tape, position, number)
        assert steps.number_at(there) == number
        a, b = tape.events[position - 1], tape.events[there - 1]
        assert (a.kind, a.line) == (b.kind, b.line)
        assert same_event(tape, there, 3) == position
    assert same_event(tape, stop, number) == steps.span(number)[1]


def test_events_before_the_loop_lead_to_the_first_event_of_a_step(recorded):
    tape = recorded(FIT)
    steps = steps_of(tape)
    start, _ = steps.span(4)
    assert same_event(tape, 0, 4) == start + 1
    assert same_event(tape, 2, 4) == start + 1


def test_an_event_that_a_step_lacks_leads_to_the_next_it_has(recorded):
    tape = recorded(UNEVEN)
    steps = steps_of(tape)
    start, _ = steps.span(4)
    assert tape.events[start].line == 4
    there = same_event(tape, start + 2, 5)
    assert steps.number_at(there) == 5
    # The loss of line 6 comes after the penalty: it has not happened yet.
    assert there == steps.span(5)[0] + 1


def test_a_step_past_the_end_is_the_last(recorded):
    tape = recorded(FIT)
    steps = steps_of(tape)
    position = steps.span(2)[0] + 3
    assert steps.number_at(same_event(tape, position, 500)) == 12
    assert steps.number_at(same_event(tape, position, -5)) == 1


def test_prints_and_rates_are_noted_at_their_steps(recorded):
    marks = step_marks(recorded(FIT))
    assert marks.printed == {1: "at 0", 6: "at 5", 11: "at 10"}
    (change,) = marks.rates
    assert (change.step, change.optimizer) == (8, "SGD")
    assert (change.before, change.after) == (0.1, 0.01)
    assert marks.rates_in(8) == (change,)
    assert marks.rates_in(7) == ()


def test_a_schedule_changes_the_rate_of_its_steps(recorded):
    tape = recorded(
        "w = param(1.0)\nopt = torch.optim.Adam([w], lr=0.5)\n"
        "sched = torch.optim.lr_scheduler.StepLR(opt, 2, gamma=0.5)\n"
        "for i in range(6):\n    loss = w * w\n    loss.backward()\n"
        "    opt.step()\n    sched.step()\n"
    )
    rates = [(c.step, c.before, c.after) for c in step_marks(tape).rates]
    assert rates == [(3, 0.5, 0.25), (5, 0.25, 0.125)]


def test_an_event_is_known_by_what_it_does(recorded):
    tape = recorded(FIT)
    from gradscribe.playback.tape.index import index_of

    index, steps = index_of(tape), steps_of(tape)
    keys = [[event_key(index, at) for at in range(*steps.span(n))] for n in (2, 3)]
    assert keys[0] == keys[1]
