import pytest

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit

SOURCE = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        if x.sum() > 0:
            return self.layer(x)
        else:
            return x


net = Net()
for step in range(3):
    loss = net(torch.ones(2)).sum()

    # about the next line
    loss.backward()

print(loss)
"""


@pytest.fixture
def edit(qtbot):
    made = CodeEdit(Theme.load("light"))
    qtbot.addWidget(made)
    made.resize(500, 700)
    made.set_source(SOURCE)
    made.show()
    made.setFocus()
    made.grab()
    return made


@pytest.fixture
def shown(edit):
    """Return the numbers of the lines that are seen."""

    def lines():
        edit.grab()
        return [row.line for row in edit.rows()]

    return lines
