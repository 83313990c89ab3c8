"""Names of backward passes, for tapes of real runs."""

import pytest

from gradscribe.engine.run import run
from gradscribe.playback.tape import track
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.pass_names import outermost_passes, pass_names

CUBE = "x = param(2.0)\ny = x**3\n"
GRAD = "torch.autograd.grad"


def recorded(source):
    tape = run.record(source)
    assert tape.status == "ok", tape.error
    return tape


KEEP = "retain_graph=True"
NEXT = "create_graph=True"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["y.backward()"], ["Backward"]),
        ([f"y.backward({KEEP})", "y.backward()"], ["Backward 1 of 2", "Backward 2 of 2"]),
        ([f"y.backward({KEEP})"] * 3, [f"Backward {n} of 3" for n in (1, 2, 3)]),
        (
            [f"g, = {GRAD}(y, x, {NEXT})", f"h, = {GRAD}(g, x)"],
            ["Backward", "Second derivative"],
        ),
        (
            [f"g, = {GRAD}(y, x, {NEXT})", f"h, = {GRAD}(g, x, {NEXT})", "h.backward()"],
            ["Backward", "Second derivative", "Third derivative"],
        ),
        (
            [f"g, = {GRAD}(y, x, {NEXT})", f"{GRAD}(g, x, {KEEP})", f"{GRAD}(g, x)"],
            ["Backward", "Second derivative 1 of 2", "Second derivative 2 of 2"],
        ),
        # The graph that it makes is not used.
        (
            [f"{GRAD}(y, x, {NEXT})", "(x * 2).backward()"],
            ["Backward 1 of 2", "Backward 2 of 2"],
        ),
    ],
)
def test_passes_are_told_apart(lines, names):
    tape = recorded(CUBE + "\n".join(lines))
    found = pass_names(tape)
    assert [found[one] for one in outermost_passes(tape)] == names
    shown = [part.title for part in track.segments(tape) if part.phase == "Backward"]
    assert shown == names


def test_a_fourth_derivative_has_its_number():
    lines = "".join(f"y, = {GRAD}(y, x, create_graph=True)\n" for _ in range(4))
    assert (
        list(pass_names(recorded(CUBE.replace("3", "5") + lines)).values())[-1] == "4th derivative"
    )


def test_each_step_of_a_training_counts_for_itself():
    source = """w = param(1.0)
opt = optim.SGD([w], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    (w * w).backward()
    opt.step()
"""
    assert set(pass_names(recorded(source)).values()) == {"Backward"}


def test_a_pass_inside_another_has_no_name_of_its_own():
    source = """from torch.utils.checkpoint import checkpoint
x = param(2.0)
def f(t):
    return torch.sin(t) * t
y = checkpoint(f, x, use_reentrant=True)
y.backward()
"""
    tape = recorded(source)
    assert len(tape.passes) == 2
    assert list(pass_names(tape).values()) == ["Backward"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        CUBE,
        CUBE + "y.backward()\ny = x * 2\ny.backward()\n",
        CUBE + f"g, = {GRAD}(y, x, create_graph=True)\n(g * y).backward()\nprint(x.grad)",
        "print(torch.func.hessian(lambda a: (a**3).sum())(torch.ones(2)))",
    ],
)
def test_segments_follow_each_other_over_all_events(source):
    tape = recorded(source)
    parts = track.segments(tape)
    borders = [0, *(part.stop for part in parts)]
    assert [part.start for part in parts] == borders[:-1]
    assert borders[-1] == len(tape.events)
    assert all(part.start < part.stop for part in parts)
    for event in range(len(tape.events)):
        part = next(p for p in parts if p.start <= event < p.stop)
        assert track.title_at(tape, event) == part.title


def test_an_unfinished_pass_has_a_name():
    tape = run.record("x = param(2.0)\ny = x**3\nx.register_hook(lambda g: 1 / 0)\ny.backward()")
    assert tape.status == "error"
    assert list(pass_names(index_of(tape)).values()) == ["Backward"]
