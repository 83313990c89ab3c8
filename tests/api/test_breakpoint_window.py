"""`gs.here`: the tensors at a breakpoint, in the window."""

import os
import subprocess
import sys

import pytest
import torch
from torch import nn

import gradscribe as gs
from gradscribe import breakpoint_window
from gradscribe.playback.explain.page import explain


@pytest.fixture
def shown(monkeypatch):
    """Return the tapes that a window would have shown."""
    tapes = []
    monkeypatch.setattr(breakpoint_window, "show", lambda tape, at: tapes.append((tape, at)))
    return tapes


def test_tensors_are_shown_with_their_gradients(shown):
    net = nn.Linear(2, 1)
    x = torch.tensor([[3.0, 4.0]])
    y = net(x)
    y.sum().backward()
    pair = [torch.tensor([5.0], requires_grad=True)]
    tape = gs.here({"net": net, "x": x, "y": y, "pair": pair, "n": 3})
    assert shown == [(tape, None)]
    assert tape["x"].value.tolist() == [[3.0, 4.0]]
    assert tape["y"].value.tolist() == y.tolist()
    assert tape["net.weight"].grad.tolist() == [[3.0, 4.0]]
    assert tape["net.bias"].grad.tolist() == [1.0]
    assert tape["pair[0]"].value.tolist() == [5.0]
    assert tape["x"].grad is None
    assert len(tape.ops) == 0
    at = len(tape.data.events)
    for name, grad in (("net.bias", "1.0000"), ("pair[0]", "None yet")):
        card = explain(tape.index, value=tape[name].id, position=at)
        assert [row.number for row in card.rows if row.label == f"{name}.grad"] == [grad]


def test_the_variables_of_the_caller_are_the_default(shown):
    first = torch.ones(2)
    tape = gs.here()
    assert tape.names == ("first",)
    assert first.tolist() == [1.0, 1.0]
    events = tape.data.events
    line = test_the_variables_of_the_caller_are_the_default.__code__.co_firstlineno + 2
    assert {event.line for event in events} == {line}
    assert tape.filename == __file__


def test_more_tensors_than_the_graph_shows_are_all_on_the_tape(shown):
    many = {f"t{at}": torch.full((2,), float(at)) for at in range(40)}
    tape = gs.here(many)
    assert {name: tape[name].value.tolist() for name in tape} == {
        name: tensor.tolist() for name, tensor in many.items()
    }
    drawn = [name for name in many if f">{name}<" in tape.to_svg()]
    assert len(drawn) == 8


def test_nothing_of_torch_changes(shown):
    w = torch.tensor([1.0], requires_grad=True)
    h = w * 2
    state, version = torch.get_rng_state(), h._version
    with torch.no_grad():
        gs.here({"w": w, "h": h})
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)
    assert (h._version, w.grad) == (version, None)
    h.backward()
    assert w.grad.tolist() == [2.0]


def test_a_recording_around_it_sees_nothing_of_it(shown):
    with gs.record() as tape:
        a = torch.tensor([1.0], requires_grad=True)
        gs.here({"a": a})
        b = a * 3
    assert [op.name for op in tape.ops] == ["mul"]
    assert b.item() == 3.0


def test_it_shows_tensors_that_cannot_be_read_as_well(shown):
    names = {
        "meta": torch.empty(3, device="meta"),
        "sparse": torch.eye(3).to_sparse(),
        "nothing": torch.empty(0),
        "big": torch.zeros(100, 100),
    }
    tape = gs.here(names)
    assert set(tape.names) == set(names)
    assert tape["big"].value is None
    assert tape["big"].summary.norm == 0.0


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({"n": 3}, ValueError, "No tensor among the variables"),
        ({}, ValueError, "No tensor"),
        (torch.ones(2), TypeError, r"gs.here\(locals\(\)\), not Tensor"),
        ({1: torch.ones(2)}, TypeError, "variables by name"),
    ],
)
def test_without_tensors_or_names_it_says_so(shown, names, error, message):
    with pytest.raises(error, match=message):
        gs.here(names)
    assert shown == []


@pytest.mark.e2e
def test_at_the_prompt_of_a_debugger_the_line_is_that_of_the_breakpoint(tmp_path):
    script = tmp_path / "stopped.py"
    script.write_text(
        "import torch\n"
        "import gradscribe as gs\n"
        "from gradscribe import breakpoint_window\n"
        "breakpoint_window.show = lambda tape, at: None\n"
        "def step(w):\n"
        "    h = w * 2\n"
        "    breakpoint()\n"
        "    return h\n"
        "step(torch.tensor([3.0]))\n"
    )
    typed = (
        "tape = gs.here(locals())\n"
        "print('SEEN', tape['h'].value.tolist(), tape.data.events[0].line, tape.filename)\n"
        "continue\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        input=typed,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONBREAKPOINT": "pdb.set_trace"},
    )
    (seen,) = [line for line in done.stdout.splitlines() if "SEEN" in line]
    assert seen.split("SEEN ")[1].startswith("[6.0] ")
    assert seen.endswith(str(script))
    line = int(seen.split("] ")[1].split()[0])
    assert line in (7, 8)
