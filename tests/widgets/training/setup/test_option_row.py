"""An option's editor shows whatever a file holds."""

import pytest

from gradscribe.engine.protocol.training import Option
from gradscribe.widgets.training.setup.option_row import OptionRow

STRANGE = [
    None,
    True,
    "x",
    ["a"],
    [1, 2.5],
    [None],
    [[1]],
    {"a": 1},
    -1,
    0,
    1e308,
    10**400,
    [10**400],
    [-5],
]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: str(value)[:12])
@pytest.mark.parametrize(
    "option",
    [
        Option("n", "int", 5, low=1, high=9),
        Option("lr", "float", 0.1, low=1e-5, high=10.0, log=True),
        Option("bias", "bool", True),
        Option("norm", "choice", "a", choices=("a", "b")),
        Option("target", "text", ""),
        Option("path", "text", ""),
        Option("source", "text", "", lines=9),
        Option("layers", "ints", [4], low=1, high=9),
        Option("betas", "floats", [0.9, 0.999]),
        Option("inputs", "choices", [], choices=("a", "b")),
        Option("points", "points", []),
    ],
    ids=lambda option: f"{option.name}",
)
def test_a_value_of_any_kind_is_shown_for_the_engine_to_refuse(shown, option, value):
    row, told = shown(OptionRow(option), 280, 120), []
    row.edited.connect(lambda _name, value: told.append(value))
    row.set_value(value)
    assert told == []
    assert not row.grab().isNull()
