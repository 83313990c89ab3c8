"""Fixes of errors: the broken program fails, the fixed one runs to its end in plain Python."""

import pytest

from gradscribe.engine.hints.fixes import fixed
from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.run.errors import to_problem

FILE = "<program>"
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def failed(source):
    """Return the problem of a program that must fail."""
    try:
        code = compile_text(source, FILE)
        exec(code, {"__name__": "__main__"})
    except Exception as exc:  # noqa: BLE001 - any exception is the subject here
        return to_problem(exc, source, FILE)
    raise AssertionError("it does not fail")


def run(source):
    names = {"__name__": "__main__"}
    exec(compile_text(source, FILE), names)
    return names


def changed(source, fix):
    """Return the lines of the fix that are not in the source."""
    old = source.split("\n")
    return [line for line in fix.split("\n") if line not in old]


SYNTAX = [
    ("for i in range(3)\n    print(i)\n", "for i in range(3):"),
    ("if True  # yes\n    x = 1\n", "if True:  # yes"),
    ("x = (1 + 2\n", "x = (1 + 2)"),
    ("print(str(1)\ny = 2\n", "print(str(1))"),
    ("x = [1, 2,\n     3\ny = 2\n", "     3]"),
    ("for i in range(len([1, 2]):\n    pass\n", "for i in range(len([1, 2])):"),
    ("x = (1 + 2))\n", "x = (1 + 2)"),
    ("x = [1, 2)\n", "x = [1, 2]"),
    ("x = max([1, 2)\n", "x = max([1, 2])"),
    ('print("hello)\n', 'print("hello")'),
    ("s = 'abc\n", "s = 'abc'"),
    ('d = {"a: 1}\n', 'd = {"a": 1}'),
    ("d = {'a': 1, 'b: 2}\n", "d = {'a': 1, 'b': 2}"),
    ("x = 1\nif x = 1:\n    pass\n", "if x == 1:"),
    ("print 'a'\n", "print('a')"),
    ("print 1 + 2  # b\n", "print(1 + 2)  # b"),
    ("s = “abc”\n", 's = "abc"'),
    ("x = 3 – 1\n", "x = 3 - 1"),
    ("x = [1 2 3]\n", "x = [1, 2, 3]"),
    ("lr-rate = 0.1\n", "lr_rate = 0.1"),
    ("x = True && False\n", "x = True and False"),
    ("x = True || False && True\n", "x = True or False and True"),
    ("x = 1\nx++\n", "x += 1"),
    ("x = 1\nif x == 1:\n    y = 1\nelse if x == 2:\n    y = 2\n", "elif x == 2:"),
    ("function f(x):\n    return x\n", "def f(x):"),
    ("def f():\n\n", "    pass"),
    ("for i in range(2):\nprint(i)\n\nx = 1\n", "    print(i)"),
    ("def f(x):\nreturn x\ny = f(1)\n", "    return x"),
    ("x = 1\n   y = 2\nz = 3\n", "y = 2"),
    ("def f():\n    x = 1\n   return x\n", "    return x"),
    ("if True:\n    x = 1\n\ty = 2\n", "    y = 2"),
    ("s = 'é' +\u00a01\ns = 2\n".replace("'é' +\u00a01", "2 +\u00a01"), "s = 2 + 1"),
]


@pytest.mark.parametrize(("source", "line"), SYNTAX, ids=[s.split("\n")[0] for s, _ in SYNTAX])
def test_what_python_cannot_read_is_fixed(source, line):
    fix = failed(source).fix
    assert changed(source, fix) == [line]
    run(fix)


def test_lines_that_start_too_far_right_in_two_places_all_move():
    source = "x = 1\n  y = x\n  print(y)\nprint(x)\n   z = y\nprint(z)\n"
    fix = failed(source).fix
    assert changed(source, fix) == ["y = x", "print(y)", "z = y"]
    run(fix)


def test_a_fix_goes_as_far_as_the_next_mistake_of_another_kind():
    source = "x = (1\ny = 2\nfor i in [1]\n    pass\n"
    fix = failed(source).fix
    assert changed(source, fix) == ["x = (1)"]
    assert changed(fix, failed(fix).fix) == ["for i in [1]:"]


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(2):\nprint(i)\nprint('done')\n",
        "x = $\n",
        "return = 3\n",
        "x = '''abc\n",
        "x = 1 / 0\n",
        "assert False\n",
        "raise ValueError('lss')\n",
        "int('a')\n",
        "x = [1][2]\n",
        "raise NameError(\"name 'x' is not defined\")\n",
    ],
)
def test_where_no_edit_or_several_may_be_meant_there_is_none(source):
    assert failed(source).fix == ""


class Hostile(Exception):
    def __str__(self):
        raise SystemExit


@pytest.mark.parametrize("source", ["", "x", "x\r\ny", "x\n" * 200_000])
def test_no_exception_and_no_text_breaks_it(source):
    for exc in (Hostile(), ValueError(""), SyntaxError(), NameError("name 'y' is not defined")):
        place = Place(1, 0, 1, 5)
        assert fixed(exc, source, place, {"y": 1, "yy": 2}, "Did you mean yy?") in ("", "yy")
        assert fixed(exc, source, Place(99, 5, 99, 9), None, "Write x.") == ""


def test_a_name_is_renamed_wherever_it_is_read_and_nowhere_else():
    source = HEAD + "def f():\n    print('lenth', lenth)\n    return lenth\nlength = 3\nf()\n"
    assert changed(source, failed(source).fix) == [
        "    print('lenth', length)",
        "    return length",
    ]


def test_an_import_comes_after_the_ones_that_are_there():
    source = '"""Text."""\nimport math\n\nx = torch.ones(2)\n'
    assert failed(source).fix == '"""Text."""\nimport math\nimport torch\n\nx = torch.ones(2)\n'
    source = "# Title\nx = torch.ones(2)\n"
    assert failed(source).fix == "# Title\nimport torch\nx = torch.ones(2)\n"


RUNS = [
    ("loss = torch.ones(3).sum()\nprint(lss)\n", "print(loss)"),
    ("flag = true\n", "flag = True"),
    ("y = np.zeros(3)\n", "import numpy as np"),
    ("x = torch.ones(3)\nprint(x.sume())\n", "print(x.sum())"),
    ("w = torch.ones(3, requires_grad=True)\nw.sum.backward()\n", "w.sum().backward()"),
    ("w = torch.ones(3, requires_grad=True)\nl = w.sum\nl.backward()\n", "l = w.sum()"),
    ("x = torch.Linear(2, 3)\n", "x = nn.Linear(2, 3)"),
    ("d = {'weight': 1}\nprint(d['wieght'])\n", "print(d['weight'])"),
    ("import maths\n", "import math"),
    (
        "p = nn.Linear(2, 2)\no = torch.optim.SGD(p.parameters(), lrr=0.1)\n",
        "o = torch.optim.SGD(p.parameters(), lr=0.1)",
    ),
    (
        "class M(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(2, 2)\nM()\n",
        "        super().__init__()",
    ),
    (
        (
            "class M(nn.Module):\n    def __int__(self):\n        super().__init__()\n"
            "        self.a = nn.Linear(2, 2)\nm = M()\n"
            "o = torch.optim.SGD(m.parameters(), lr=0.1)\n"
        ),
        "    def __init__(self):",
    ),
    (
        "class M(nn.Module):\n    def forward(x):\n        return x\nM()(torch.ones(2))\n",
        "    def forward(self, x):",
    ),
    (
        "class M(nn.Module):\n    def foward(self, x):\n        return x\nM()(torch.ones(2))\n",
        "    def forward(self, x):",
    ),
    (
        "m = nn.Linear(2, 1)\no = torch.optim.SGD(m.parameters, lr=0.1)\n",
        "o = torch.optim.SGD(m.parameters(), lr=0.1)",
    ),
    ("x = torch.ones(2, 2)\ny = F.linear(nn.ReLU(x), x)\n", "y = F.linear(nn.ReLU()(x), x)"),
    (
        (
            "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.w = torch.randn(2)\nm = M()\n"
            "o = torch.optim.SGD(m.parameters(), lr=0.1)\n"
        ),
        "        self.w = nn.Parameter(torch.randn(2))",
    ),
    ("a = torch.ones(2, 3)\nb = torch.ones(2, 3)\nc = a @ b\n", "c = a @ b.T"),
    ("a = torch.ones(2, 3)\nc = a @ a\n", "c = a @ a.T"),
    ("a = torch.ones(4, 3)\nb = torch.ones(4)\nc = a + b\n", "c = a + b.unsqueeze(1)"),
    (
        "x = torch.ones(5, 3)\nm = nn.Linear(4, 2)\ny = m(x)\n",
        "m = nn.Linear(3, 2)",
    ),
    (
        "x = torch.ones(5, 2, 2)\nm = nn.Linear(4, 2)\ny = m(x)\n",
        "y = m(x.flatten(1))",
    ),
    (
        "x = torch.ones(2, 3).t()\ny = x.view(6)\n",
        "y = x.reshape(6)",
    ),
    (
        (
            "p = torch.ones(3, requires_grad=True)\ny = torch.tensor([1, 2, 3])\n"
            "loss = F.binary_cross_entropy_with_logits(p, y)\nloss.backward()\n"
        ),
        "loss = F.binary_cross_entropy_with_logits(p, y.float())",
    ),
    (
        "p = torch.ones(3, 2)\ny = torch.tensor([0.0, 1.0, 1.0])\nloss = F.cross_entropy(p, y)\n",
        "loss = F.cross_entropy(p, y.long())",
    ),
    (
        "x = torch.ones(3, 2, dtype=torch.float64)\nm = nn.Linear(2, 1)\ny = m(x)\n",
        "y = m(x.float())",
    ),
    (
        "a = torch.ones(3, 2).double()\nb = torch.ones(2, 3)\ny = a @ b\n",
        "y = a.float() @ b",
    ),
    ("x = torch.tensor([1, 2])\ny = x.mean()\n", "y = x.float().mean()"),
    (
        "p = torch.ones(3, 1)\ny = torch.ones(3)\nl = F.binary_cross_entropy_with_logits(p, y)\n",
        "l = F.binary_cross_entropy_with_logits(p, y.unsqueeze(1))",
    ),
    (
        "x = torch.ones(1, 8, 8, 3)\nc = nn.Conv2d(3, 4, 3)\ny = c(x)\n",
        "y = c(x.permute(0, 3, 1, 2))",
    ),
    ("x = torch.ones(3, requires_grad=True)\n(x * 2).backward()\n", "(x * 2).sum().backward()"),
    (
        "w = torch.ones(2, requires_grad=True)\nif True:\n    w -= 0.1\n",
        ["    with torch.no_grad():", "        w -= 0.1"],
    ),
    (
        "x = torch.tensor([1, 2], requires_grad=True)\n",
        "x = torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)",
    ),
    ("x = torch.ones(2, requires_grad=True)\ny = x.numpy()\n", "y = x.detach().numpy()"),
    (
        "w = torch.ones(2, requires_grad=True)\nl = w.sum()\nl.backward\nprint(w.grad.norm())\n",
        "l.backward()",
    ),
    (
        "s = '🙂'; a = torch.ones(2, 3); c = '🙂', a @ a\n",
        "s = '🙂'; a = torch.ones(2, 3); c = '🙂', a @ a.T",
    ),
]


@pytest.mark.parametrize(("tail", "line"), RUNS, ids=[t.split("\n")[-2] for t, _ in RUNS])
def test_what_fails_as_it_runs_is_fixed(tail, line):
    source = HEAD + tail
    fix = failed(source).fix
    expected = [line] if isinstance(line, str) else line
    assert changed(source, fix) == expected
    run(fix)
