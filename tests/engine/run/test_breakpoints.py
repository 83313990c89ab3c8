"""A breakpoint is a place on the tape."""

import sys

from gradscribe.engine.run.breakpoints import print_breakpoints
from gradscribe.engine.run.run import record


def test_a_breakpoint_notes_its_place_and_the_program_goes_on():
    tape = record(
        "class Net(nn.Module):\n    def forward(self, x):\n        breakpoint()\n"
        "        return x * 2\n\ny = Net()(param(1.0))\ny.backward()\n"
    )
    assert tape.status == "ok"
    assert tape.stdout == "breakpoint in line 3: step the tape from here\n"
    (at,) = [n for n, event in enumerate(tape.events) if event.kind == "print"]
    assert tape.events[at].line == 3
    assert [event.kind for event in tape.events[at:]].count("op") == 1


def test_a_hook_of_the_program_s_own_is_used_and_taken_back():
    before = sys.breakpointhook
    tape = record("import sys\nsys.breakpointhook = lambda: print('mine')\nbreakpoint()\n")
    assert tape.stdout == "mine\n"
    assert sys.breakpointhook is before


def test_the_hook_is_taken_back():
    before = sys.breakpointhook
    with print_breakpoints():
        assert sys.breakpointhook is not before
    assert sys.breakpointhook is before
