"""The hints for Python's own errors fit what Python really says."""

import re

import pytest
import torch
from torch import nn

from gradscribe.engine import hints
from gradscribe.engine.hints import python
from gradscribe.engine.hints.advice import HintContext
from tests.engine.hints.told import ROW_CHECKS, told


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", python.ROWS, ids=lambda row: f"{row.kind.__name__} {row.pattern}")
def test_every_row(check, row):
    check(row)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("for i in range(3):\npass", "four spaces"),
        ("  x = 1", "further right"),
        ("if 1:\n    x = 1\n  y = 2", "same column"),
        ("if 1:\n\tx = 1\n        y = 2", "spaces only"),
        ("x = (1 + 2", "Close it"),
        ("x = 1)", "remove it"),
        ("x = (1]", "( is open here"),
        ("if True\n  x", "Put : here"),
        ("x = 'abc", "quote"),
        ("a = “b”", "keyboard"),
        ("5 = x", "== compares"),
        ("f() + 1 = x", "== compares"),
        ("print 'a'", "print(...)"),
        ("f(x=1, 2)", "without a name first"),
        ("return 3", "inside a function"),
        ("break", "loop"),
        ("1x = 3", "digit"),
        ("f(a b)", "comma"),
        ("x = = 3", "missing or too much"),
        ("def f():\n    print(q)\n    q = 1\nf()", "only later"),
        ("import nonexistent_thing", "not installed"),
        ("import toch", "Did you mean torch?"),
        ("import sys; sys.setrecursionlimit(1)", "bigger number"),
        ("import bdb; raise bdb.BdbQuit", "no keyboard for a debugger"),
        ("raise OSError('[Errno -3] Temporary failure in name resolution')", "network"),
        ("from torch import Tensr", "torch has no Tensr"),
        ("None.foo", "before the dot is None"),
        ("torch.ones(2).sume()", "Did you mean .sum?"),
        ("torch.nn.Linaer(2, 2)", "Did you mean .Linear?"),
        ("torch.ones(2).sum + torch.ones(2)", "not called yet"),
        ("torch.ones(2) * torch.ones(2).sum", "not called yet"),
        ("torch.ones(2).sum[0]", "not called yet"),
        ("torch.sigmoid(torch.ones(2).sum)", "not called yet"),
        ("class M(nn.Module):\n  def __init__(self): self.l = nn.Linear(1, 1)\nM()", "super()"),
        ("0.1 * torch.ones(1).grad", "until backward() has run"),
        ("torch.ones(1).grad.zero_()", "until backward() has run"),
        ("torch.ones(1).grad[0]", "None"),
        ("1 + 'a'", "between int and str"),
        ("torch.ones(1)(2)", "a product needs *"),
        ("nn.Linear(2)", "Also give it 'out_features'"),
        ("nn.Linear(2, 2, baias=False)", "no argument named baias"),
        ("torch.tensor(1, 2)", "fewer arguments"),
        ("int('a')", "no number"),
        ("float('x1')", "no number"),
        ("a, b = 1, 2, 3", "equally many"),
        ("1 / 0", "divisor"),
        ("[1][3]", "length minus 1"),
        ("d = {'weight': 1}\nd['wieght']", "Did you mean 'weight'?"),
        ("s = nn.Linear(1, 1).state_dict()\ns['fc.weight']", "Did you mean 'weight'?"),
        ("def f(): f()\nf()", "without end"),
        ("x = [0] * 10**13", "smaller"),
        ("open('nonexistent')", "no such file"),
        ("raise EOFError", "into the code"),
        ("assert 1 == 2", "not true"),
        ("raise KeyboardInterrupt", "interrupted"),
    ],
)
def test_pythons_own_error_gets_its_hint(source, words):
    assert words in told(source, torch=torch, nn=nn)


def test_an_error_of_the_program_s_own_gets_no_hint():
    assert told("class Mine(Exception): pass\nraise Mine('x')") == ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import os; os.system('ls')", "No other program or process"),
        ("import subprocess; subprocess.run(['ls'])", "No other program or process"),
        ("open('out.txt', 'w')", "kept from files"),
        ("loader = DataLoader(data, num_workers=2)", "num_workers=0"),
    ],
)
def test_what_the_confinement_refused_is_told_by_what_was_tried(monkeypatch, line, words):
    monkeypatch.setattr(python.box, "is_confined", lambda: True)
    error = PermissionError(1, "Operation not permitted")
    row = next(one for one in python.ROWS if one.kind is PermissionError)
    assert words in hints.answer(row, re.search("", ""), HintContext(error, line, {}))
