"""Long loops are recorded in part: numbers of all steps, a choice of steps in full."""

import contextlib
import io

import numpy as np
import pytest
import torch
from torch import autograd

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import StepLoop, Tape
from gradscribe.engine.record.loops import columns
from gradscribe.engine.run import run

MLP = """
import torch
from torch import nn
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
plan = torch.optim.lr_scheduler.StepLR(opt, 50, 0.5)
x = torch.randn(32, 2)
y = x.prod(1, keepdim=True)
losses, norms = [], []
for step in range(STEPS):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    plan.step()
    losses.append(loss.item())
    norms.append(net[0].weight.grad.norm().item())
after = (net(x) - y).abs().max()
"""
BY_HAND = """
import torch
x = torch.linspace(-1, 1, 16)
y = 3 * x + 1
w = torch.zeros(1, requires_grad=True)
losses = []
def train(count):
    global w
    for i in range(count):
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        losses.append(loss.detach())
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
train(STEPS)
"""
NESTED = """
import torch
torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
data = [torch.randn(4, 3) for _ in range(40)]
opt = torch.optim.SGD([w], lr=0.01)
losses, checks = [], []
for epoch in range(STEPS // 40):
    for part in data:
        loss = (part @ w - part.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    with torch.no_grad():
        checks.append((data[0] @ w).sum())
"""


def plain(source: str) -> dict[str, object]:
    """Run a program without a recorder and return its names."""
    names: dict[str, object] = {"__name__": "__main__"}
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "<plain>", "exec"), names)
    return names


def recorded(source: str, full_events: int = 400, **changes: object) -> Tape:
    """Record a program in part; assert that its tape has no flaw."""
    tape = run.execute(
        Run(0, source, full_events=full_events, timeout=60, **changes)  # type: ignore[arg-type]
    )
    assert [flaw for flaw in check_tape.find_flaws(tape) if flaw] == []
    return tape


def column(loop: StepLoop, kind: str, name: str = "") -> tuple[list[int], list[float]]:
    """Return the steps and numbers of a column."""
    found = next(c for c in loop.columns if c.kind == kind and (not name or c.name == name))
    steps = np.frombuffer(found.steps, "<u4").tolist()
    return steps, np.frombuffer(found.numbers, "<f8").tolist()


def is_restored() -> bool:
    """Return whether torch has all its own functions."""
    return (
        "item" not in torch.Tensor.__dict__
        and autograd._engine_run_backward.__module__.startswith("torch.")
        and autograd.graph._engine_run_backward is autograd._engine_run_backward
        and torch._C._len_torch_function_stack() == 0
    )


@pytest.mark.parametrize("source", [MLP, BY_HAND, NESTED])
def test_each_step_has_the_loss_of_plain_torch(source: str) -> None:
    source = source.replace("STEPS", "400")
    expected = [float(loss) for loss in plain(source)["losses"]]  # type: ignore[attr-defined]
    tape = recorded(source)
    (loop,) = tape.step_loops
    assert loop.steps == 400
    assert len(loop.full) < 200
    assert column(loop, "loss") == (list(range(1, 401)), expected)
    assert is_restored()


def test_norms_and_rates_are_those_of_plain_torch() -> None:
    source = MLP.replace("STEPS", "200")
    names = plain(source)
    (loop,) = recorded(source).step_loops
    steps, norms = column(loop, "gradient", "net.0.weight")
    assert steps == list(range(1, 201))
    assert norms == pytest.approx(names["norms"], rel=1e-6)
    steps, rates = column(loop, "rate")
    shown = dict(zip(steps, rates, strict=True))
    assert {step: rate for step, rate in shown.items() if step in (51, 101, 151)} == {
        51: 0.005,
        101: 0.0025,
        151: 0.00125,
    }


def test_updates_are_relative_to_the_parameters() -> None:
    source = BY_HAND.replace("STEPS", "100")
    (loop,) = recorded(source).step_loops
    steps, updates = column(loop, "update")
    weights = [torch.zeros(1)]
    x = torch.linspace(-1, 1, 16)
    for _ in range(100):
        w = weights[-1].clone().requires_grad_()
        ((w * x - (3 * x + 1)) ** 2).mean().backward()
        weights.append(w.detach() - 0.1 * w.grad)
    expected = [float((weights[k] - weights[k - 1]).norm() / weights[k - 1].norm()) for k in steps]
    assert len(steps) >= 3
    assert updates == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("source", [MLP, BY_HAND, NESTED])
def test_a_step_in_full_has_the_numbers_of_a_whole_recording(source: str) -> None:
    source = source.replace("STEPS", "120")
    part, whole = recorded(source), recorded(source, 0)
    assert part.step_loops
    assert not whole.step_loops
    (loop,) = part.step_loops
    every = [_pass_numbers(whole, number) for number in range(len(whole.passes))]
    firsts = [event for _, event in loop.full]
    passes = [at for at, event in enumerate(part.events) if event.kind == "backward"]
    assert len(passes) == len(loop.full) == len(part.passes)
    for number, at in enumerate(passes):
        step = loop.full[sum(first <= at for first in firsts) - 1][0]
        assert _pass_numbers(part, number) == every[step - 1]


def _pass_numbers(tape: Tape, number: int) -> list[object]:
    """Return all gradients of a pass, and the values of its roots."""
    values = {value.id: value for value in tape.values}
    roots = [values[root].snapshot for root in tape.passes[number].roots if root is not None]
    sent = [edge.gradient for edge in tape.edges if edge.run == number]
    added = [a.after for a in tape.accumulations if a.run == number]
    return [tape.snapshots[s].data for s in (*roots, *sent, *added) if s is not None]


def test_a_gap_has_what_its_steps_changed() -> None:
    source = BY_HAND.replace("STEPS", "200")
    tape = recorded(source)
    values = {value.id: value for value in tape.values}
    x = torch.linspace(-1, 1, 16)
    w, weights = torch.zeros(1, requires_grad=True), []
    for _ in range(200):
        ((w * x - (3 * x + 1)) ** 2).mean().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        weights.append(w.item())
    assert len(tape.gaps) > 1
    for gap in tape.gaps:
        (change,) = gap.changes
        snapshot = values[change.after].snapshot
        assert snapshot is not None
        assert tape.snapshots[snapshot].item() == weights[gap.last - 1]


def test_what_follows_the_loop_is_recorded() -> None:
    source = MLP.replace("STEPS", "100") + "check = (after * 2).sqrt()\n"
    tape = recorded(source)
    assert [op.op for op in tape.ops[-3:]] == ["max", "mul", "sqrt"]
    assert tape.events[-1].kind in ("op", "leaf", "write", "leave")
    names = plain(source)
    value = next(v for v in tape.values if v.name == "check")
    assert value.snapshot is not None
    assert tape.snapshots[value.snapshot].item() == names["check"].item()  # type: ignore[attr-defined]


def test_an_epochs_end_is_recorded_now_and_then() -> None:
    tape = recorded(NESTED.replace("STEPS", "4000"), 2000)
    (loop,) = tape.step_loops
    assert loop.steps == 4000
    lines = [op.place.line for op in tape.ops]
    assert 2 <= lines.count(16) < 100


def test_an_error_in_a_step_is_shown_at_its_line() -> None:
    source = BY_HAND.replace("STEPS", "90").replace(
        "        loss.backward()\n",
        "        loss.backward()\n        if i == 77:\n            x.view(5)\n",
    )
    tape = recorded(source)
    assert tape.status == "error"
    assert tape.error is not None
    assert tape.error.place.line == 13
    assert tape.step_loops[0].steps == 78
    assert tape.events[-1].kind == "error"
    assert is_restored()


def test_a_stop_at_the_time_limit_leaves_torch_as_it_was() -> None:
    source = BY_HAND.replace("STEPS", "10**9")
    tape = run.execute(Run(0, source, full_events=300, timeout=1.0))
    assert tape.status == "timeout"
    assert tape.step_loops[0].steps > 100
    assert is_restored()


def test_a_loop_that_is_left_early_ends_with_its_step() -> None:
    source = BY_HAND.replace("STEPS", "500").replace(
        "        w.grad = None\n",
        "        w.grad = None\n        if i == 149:\n            return\n",
    )
    tape = recorded(source + "end = w * 2\n")
    assert tape.step_loops[0].steps == 150
    assert tape.gaps[-1].last == 150
    assert tape.ops[-1].op == "mul"


def test_printed_lines_of_left_out_steps_have_their_step() -> None:
    source = BY_HAND.replace("STEPS", "120").replace(
        "        w.grad = None\n",
        "        w.grad = None\n        if i % 10 == 0:\n            print(i)\n",
    )
    tape = recorded(source)
    (loop,) = tape.step_loops
    assert tape.stdout.split() == [str(i) for i in range(0, 120, 10)]
    assert [int(tape.prints[number]) for _, number in loop.prints] == [
        step - 1 for step, _ in loop.prints
    ]
    assert len(loop.prints) > 5


def test_a_program_with_threads_is_recorded_whole() -> None:
    source = BY_HAND.replace(
        "train(STEPS)",
        "import threading\n"
        "done = threading.Event()\n"
        "other = threading.Thread(target=done.wait)\n"
        "other.start()\ntrain(60)\ndone.set()\nother.join()",
    )
    tape = recorded(source)
    assert tape.step_loops == ()
    assert len(tape.passes) == 60


def test_a_mode_of_the_program_stays_where_it_is() -> None:
    source = """
import torch
w = torch.zeros(2, requires_grad=True)
with torch.device("cpu"):
    for i in range(80):
        x = torch.ones(2)
        (w * x - 1).pow(2).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad = None
    depth = torch._C._len_torch_function_stack()
left = torch._C._len_torch_function_stack()
print(depth - left)
"""
    tape = recorded(source)
    assert tape.status == "ok", tape.error
    assert tape.step_loops[0].steps == 80
    assert tape.stdout == "1\n"
    assert is_restored()


def test_loops_without_backward_passes_are_recorded_in_part() -> None:
    source = """
import torch
table = torch.zeros(5, 5)
for k in range(3000):
    table[k % 5, k % 4] += 1
total = table.sum()
"""
    tape = recorded(source)
    assert tape.step_loops[0].steps == 3000
    total = next(v for v in tape.values if v.name == "total")
    assert total.snapshot is not None
    assert tape.snapshots[total.snapshot].item() == 3000.0
    assert len(tape.events) < 600


def test_a_loop_inside_a_step_is_no_loop_of_steps() -> None:
    source = """
import torch
layers = [torch.eye(3).requires_grad_() for _ in range(30)]
x = torch.ones(3)
for step in range(40):
    h = x
    for layer in layers:
        h = (h @ layer).tanh()
    h.sum().backward()
    for layer in layers:
        with torch.no_grad():
            layer -= 0.01 * layer.grad
            layer.grad = None
"""
    tape = recorded(source, 3000)
    (loop,) = tape.step_loops
    assert (loop.line, loop.steps) == (5, 40)


def test_steps_that_are_asked_for_are_recorded_and_the_program_is_stopped() -> None:
    source = BY_HAND.replace("STEPS", "5000")
    tape = recorded(source, wanted_steps=(9, 321, 323))
    (loop,) = tape.step_loops
    assert [step for step, _ in loop.full if step > 3] == [321, 322, 323]
    expected = [float(loss) for loss in plain(source)["losses"]][:323]  # type: ignore[attr-defined]
    assert column(loop, "loss") == (list(range(1, 324)), expected)
    assert tape.status == "ok"
    assert is_restored()


def test_the_step_after_the_first_nan_is_recorded() -> None:
    source = BY_HAND.replace("STEPS", "400").replace("0.1 * w.grad", "2.9 * w.grad")
    tape = recorded(source, 300)
    (loop,) = tape.step_loops
    steps, losses = column(loop, "loss")
    first = next(step for step, loss in zip(steps, losses, strict=True) if not np.isfinite(loss))
    assert first + 1 in [step for step, _ in loop.full]


def test_an_untrusted_program_is_recorded_in_part_too() -> None:
    source = MLP.replace("STEPS", "300")
    tape = recorded(source, policy=True)
    assert tape.status == "ok", tape.error
    assert tape.step_loops[0].steps == 300


@pytest.mark.parametrize("source", [MLP, NESTED])
def test_the_last_steps_of_a_range_are_recorded(source: str) -> None:
    (loop,) = recorded(source.replace("STEPS", "800")).step_loops
    assert [step for step, _ in loop.full][-2:] == [799, 800]


def test_numbers_of_very_many_steps_are_thinned_within_a_limit(monkeypatch):
    monkeypatch.setattr(columns, "MOST_NUMBERS", 1_000)
    monkeypatch.setattr(columns, "CHECKED_EVERY", 64)
    source = BY_HAND.replace("STEPS", "3_000")
    (loop,) = recorded(source).step_loops
    assert loop.steps == 3_000
    losses = [loss.item() for loss in plain(source)["losses"]]
    for kind in ("loss", "gradient", "time"):
        steps, numbers = column(loop, kind)
        assert 200 < len(steps) < 1_200
        assert steps[-1] > 2_900
        if kind == "loss":
            # Steps that were recorded in full have their numbers, too.
            assert numbers == [losses[step - 1] for step in steps]


def test_statistics_of_batch_norm_that_a_gap_changed_are_those_of_plain_torch() -> None:
    source = """
import torch
torch.manual_seed(0)
norm = torch.nn.BatchNorm1d(3)
opt = torch.optim.SGD(norm.parameters(), lr=0.1)
means = []
for step in range(200):
    means.append(norm.running_mean.clone())
    loss = norm(torch.randn(8, 3) + step).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    tape = recorded(source)
    means = plain(source)["means"]
    values = {value.id: value for value in tape.values}
    (loop,) = tape.step_loops
    ops = {at: tape.ops[e.ref] for at, e in enumerate(tape.events) if e.kind == "op"}
    compared = 0
    for step, first in loop.full:
        at = next(at for at in ops if at >= first and ops[at].op == "batch_norm")
        read = next(values[i] for i in ops[at].inputs if values[i].name.endswith("running_mean"))
        assert read.snapshot is not None
        assert tape.snapshots[read.snapshot].data == means[step - 1].numpy().tobytes()  # type: ignore[index]
        compared += step > 50
    assert compared
