"""A program that replaces Python's builtin functions is recorded like any other."""

import builtins

import pytest

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run.run import execute
from tests.engine.mirror import mirror

NAMES = (
    "isinstance id zip len next list map enumerate getattr type set dict tuple sorted hasattr "
    "reversed int float repr str abs min max any all iter super property range bool slice"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_the_recorder_needs_none_of_them(name):
    tape = mirror(
        "import builtins\nw = param([1.0, 2.0])\n"
        f"kept, builtins.{name} = builtins.{name}, None\n"
        "try:\n    y = torch.mul(w, 2.0).add_(1)\n"
        f"finally:\n    builtins.{name} = kept\n"
        "y.sum().backward()\nprint(y, w.grad)"
    )
    assert [o.op for o in tape.ops][:2] == ["mul", "add_"]
    assert getattr(builtins, name) is not None


@pytest.mark.parametrize("name", ["max", "int", "len", "dict", "isinstance", "min"])
def test_the_time_limit_needs_none_of_them(name):
    source = (
        f"import builtins\nkept, builtins.{name} = builtins.{name}, None\n"
        f"try:\n    while True: pass\nfinally:\n    builtins.{name} = kept\n"
    )
    tape = execute(Run(0, source, timeout=0.5))
    assert tape.status == "timeout"
    assert getattr(builtins, name) is not None
