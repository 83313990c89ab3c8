"""Parts of a program that are used for its module: definitions, not effects."""

import pytest

from gradscribe.engine.zoo.models.own import definitions

NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(WIDTH, 1)"""


@pytest.mark.parametrize(
    "line",
    [
        "WIDTH = 2",
        "WIDTH: int = 2",
        "A, WIDTH = 1, 2",
        "SIZES = {'in': 2, 'out': 1}\nWIDTH = SIZES['in']",
        "KINDS = {1, 2}\nWIDTH = 2",
        "HALF = 1\nWIDTH = 2 * HALF",
        "SIZES = [1, 2]\nWIDTH = SIZES[-1]",
        "import math\nWIDTH = 2",
    ],
)
def test_constants_come_along_with_what_they_are_made_of(line):
    names = {}
    exec(definitions(f"{line}\nprint('hello')\n").replace("\n\n\n", "\n"), names)
    assert names["WIDTH"] == 2
    assert definitions(f"{line}\n{NET}\nmodel = Net()").endswith(NET)


@pytest.mark.parametrize(
    "line",
    ["data = open('x').read()", "model = Net()", "x = torch.ones(2)", "loss = other * 2",
     "y = [f(i) for i in range(3)]", "n: int", "WIDTH = model.width"],
)  # fmt: skip
def test_what_calls_something_or_needs_what_does_stays_out(line):
    assert definitions(f"{line}\n{NET}") == NET
