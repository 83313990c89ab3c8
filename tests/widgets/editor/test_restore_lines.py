"""Code that lost its line ends: what comes out is what went in, line by line."""

import ast

import pytest

from gradscribe.widgets.editor.restore_lines import MAX_LENGTH, restore_lines

PROGRAMS = [
    "import torch\nx = torch.tensor(2.0)\ny = x ** 2\ny.backward()\nprint(x.grad)\n",
    (
        "for epoch in range(250):\n    opt.zero_grad()\n    y_pred = model(x)\n"
        "    loss = loss_fn(y_pred, y)\n    loss.backward()\n    opt.step()\n"
    ),
    (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(3, 1)\n    def forward(self, x):\n"
        "        return self.fc(x).squeeze(1)\nnet = Net()\nprint(net)\n"
    ),
    (
        "w = torch.randn(1, requires_grad=True)\nfor e in range(3):\n    loss = (w**2).sum()\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n"
        "        b -= 0.1 * b.grad\n    w.grad.zero_()\n"
    ),
    "with torch.no_grad():\n    y = model(x)\n    print(y)\n",
    "def f(x):\n    y = x * 2\n    return y\nz = f(1)\n",
    "for i in range(3):\n    if i == 1:\n        continue\n    print('it is', i)\n",
    "a = {'k': [1, 2], 'l': (3,)}\nb = a['k'][-1] -1\nc = f\"{b:.2f} it's\"\n",
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.checklist(128)
def test_the_lines_come_back(program):
    flat = " ".join(line.strip() for line in program.splitlines())
    with pytest.raises(SyntaxError):
        ast.parse(flat)
    assert restore_lines(flat) == program


def test_words_of_comments_stay_words():
    flat = (
        "import torch # Forward pass x = torch.ones(2) # don't sum y = x.sum() print(y) # the end"
    )
    assert restore_lines(flat) == (
        "import torch\n# Forward pass\nx = torch.ones(2)\n# don't sum\ny = x.sum()\n"
        "print(y)\n# the end\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "x = 1 # y = 2 z = 3",
        "x = 1\ny = 2 z = 3",
        "hello world, this is no code",
        "x = (1 2",
        "x = 'no end y = 2",
        "if x: a = 1 else: b = 2",
        "x = 1 " * MAX_LENGTH,
        "((((( " * 300,
        "x = 1 # " * 400,
        "\0 x = 1 y = 2",
    ],
)
def test_what_is_whole_or_beyond_help_stays_as_it_is(text):
    assert restore_lines(text) == text
