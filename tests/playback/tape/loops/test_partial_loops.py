"""Steps, curves, marks and titles of a loop that was recorded in part."""

import contextlib
import io

import pytest
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run import run
from gradscribe.playback.explain.events import explain_event
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.brought_steps import NotRepeated, with_brought_steps
from gradscribe.playback.tape.loops.loop_scalars import ScalarSeries, find_loop_scalars
from gradscribe.playback.tape.loops.step_curves import step_curves
from gradscribe.playback.tape.loops.steps import same_event, step_marks, steps_of
from gradscribe.playback.tape.scenes import scenes

SOURCE = """
import torch
torch.manual_seed(3)
w = torch.zeros(4, requires_grad=True)
x = torch.randn(8, 4)
opt = torch.optim.SGD([w], lr=0.05)
losses = []
for i in range(300):
    loss = (x @ w - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if i == 150:
        opt.param_groups[0]["lr"] = 0.01
    if i % 100 == 99:
        print("step", i)
"""


@pytest.fixture(scope="module")
def tape() -> Tape:
    return run.execute(Run(0, SOURCE, full_events=500))


def found_series(tape: Tape) -> tuple[ScalarSeries, ...]:
    search = find_loop_scalars(index_of(tape), SOURCE)
    with contextlib.suppress(StopIteration):
        while True:
            try:
                next(search)
            except StopIteration as end:
                series: tuple[ScalarSeries, ...] = end.value
                return series
    raise AssertionError


def plain_losses() -> list[float]:
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(SOURCE, names)
    losses: list[float] = names["losses"]  # type: ignore[assignment]
    return losses


def test_all_steps_are_counted(tape: Tape) -> None:
    steps, (loop,) = steps_of(tape), tape.step_loops
    assert len(steps) == 300
    full = [step for step, _ in loop.full]
    assert [n for n in range(1, 301) if steps.is_full(n)] == full
    assert [n for a, b in steps.full_ranges() for n in range(a, b + 1)] == full
    for step, at in loop.full:
        assert steps.number_at(at + 1) == step
        assert step == 1 or steps.span(step)[0] == at


def test_a_step_that_was_left_out_is_at_its_gap(tape: Tape) -> None:
    steps = steps_of(tape)
    at, gap = next((at, tape.gaps[e.ref]) for at, e in enumerate(tape.events) if e.kind == "gap")
    for step in (gap.first, gap.last):
        assert steps.span(step) == (at, at + 1)
        assert same_event(tape, 5, step) == at + 1
    assert steps.number_at(at + 1) == gap.last


def test_the_curve_has_the_losses_of_plain_torch(tape: Tape) -> None:
    expected = plain_losses()
    (loss, *_) = series = found_series(tape)
    assert loss.name == "loss"
    assert list(loss.steps) == list(range(1, 301))
    assert list(loss.numbers) == expected
    curves = step_curves(steps_of(tape), series)
    assert [curve.name for curve in curves].count("loss") == 1
    assert [float(curves[0].in_step(n)[0]) for n in (1, 77, 300)] == [
        expected[0],
        expected[76],
        expected[299],
    ]


def test_marks_are_at_their_steps(tape: Tape) -> None:
    marks = step_marks(tape)
    assert marks.printed == {100: "step 99", 200: "step 199", 300: "step 299"}
    assert [(c.step, c.before, c.after) for c in marks.rates] == [(152, 0.05, 0.01)]


def test_scenes_are_named_after_their_steps(tape: Tape) -> None:
    (loop,) = tape.step_loops
    titles = [scene.title for scene in scenes(tape)]
    for step, _ in loop.full:
        assert f"Step {step} of 300" in titles


def test_a_gap_is_explained_with_its_losses(tape: Tape) -> None:
    expected = plain_losses()
    at, gap = next((at, tape.gaps[e.ref]) for at, e in enumerate(tape.events) if e.kind == "gap")
    said = explain_event(index_of(tape), at + 1)
    assert f"Steps {gap.first} to {gap.last} of 300" in said.words
    assert f"{expected[gap.first - 1]:.4f} → {expected[gap.last - 1]:.4f}" in said.rows[0].number


def test_a_brought_step_is_that_of_a_whole_recording(tape: Tape) -> None:
    part = run.execute(Run(0, SOURCE, wanted_steps=(8, 211, 213)))
    shown = with_brought_steps(tape, part, 8, 211)
    whole = run.execute(Run(0, SOURCE, full_events=0))
    steps = steps_of(shown)
    assert len(steps) == 300
    assert steps.is_full(211)
    assert not steps.is_full(214)
    start, stop = steps.span(211)
    runs = [e.ref for e in shown.events[start:stop] if e.kind == "backward"]
    assert len(runs) == 1
    sent = [shown.snapshots[e.gradient or 0].data for e in shown.edges if e.run == runs[0]]
    assert sent == [whole.snapshots[e.gradient or 0].data for e in whole.edges if e.run == 210]
    assert list(found_series(shown)[0].numbers) == plain_losses()
    assert shown.stdout == tape.stdout
    assert step_marks(shown).printed == step_marks(tape).printed


def test_another_run_is_not_taken_for_the_same(tape: Tape) -> None:
    source = SOURCE.replace("manual_seed(3)", "manual_seed(4)")
    part = run.execute(Run(0, source, wanted_steps=(8, 211, 213)))
    with pytest.raises(NotRepeated, match="in step 1 was"):
        with_brought_steps(tape, part, 8, 211)
    ended = run.execute(Run(0, SOURCE.replace("300", "20"), wanted_steps=(8, 211, 213)))
    with pytest.raises(NotRepeated, match="ended before"):
        with_brought_steps(tape, replace(ended, step_loops=()), 8, 211)


def test_numbers_agree_with_torch_where_a_loss_is_nan() -> None:
    source = SOURCE.replace("lr=0.05", "lr=9e18").replace("300", "120")
    tape = run.execute(Run(0, source, full_events=300))
    part = run.execute(Run(0, source, wanted_steps=(8, 80, 81)))
    shown = with_brought_steps(tape, part, 8, 80)
    loss = found_series(shown)[0]
    assert not torch.tensor(loss.numbers[79]).isfinite()
