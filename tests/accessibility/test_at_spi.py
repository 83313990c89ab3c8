"""The real program over AT-SPI, as a screen reader finds it: names, relations, focus, sentences."""

import itertools
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.e2e import screen

HERE = Path(__file__).parent
SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAM = """import torch
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x * y
loss = (z + z) * 8
loss.backward()
"""
Z = "mul, z, value 6.0000, gradient 8 + 8 = 16"
SUM = "add, value 12.0000, gradient 8.0000"
ORDERS = [
    ["press", "Run"],
    ["wait", "mul, loss, value 96.0000, gradient"],
    ["tree"],
    ["press", "mul, z"],
    ["focus", "Computation graph"],
    ["key", "Down"],
    ["key", "Up"],
    ["key", "shift+Down"],
    ["key", "Escape"],
    ["press", "Reset"],
    ["hear", 1.5],
    ["press", "Step"],
    ["hear", 1.5],
    ["press", "Step"],
    ["hear", 1.5],
    ["press", "Step"],
    ["hear", 1.5],
    ["tree"],
]


def reason_to_skip():
    """Return why no screen reader can run here; empty if one can."""
    if reason := screen.reason_to_skip():
        return reason
    probe = [SYSTEM_PYTHON, "-c", "import pyatspi"]
    if not Path(SYSTEM_PYTHON).exists():
        return f"no Python of the system: {SYSTEM_PYTHON}"
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return "no library of AT-SPI: apt-get install python3-pyatspi"
    return ""


pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip()),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Answers of the screen reader to `ORDERS`."""
    folder = tmp_path_factory.mktemp("at-spi")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    reader = [str(HERE / "screen_reader.py"), str(folder / "answers.json"), json.dumps(ORDERS)]
    started = [sys.executable, "-m", "gradscribe", str(program)]
    with screen.Screen(folder, (1440, 900)) as shown:
        done = subprocess.run(
            [SYSTEM_PYTHON, *reader, *started],
            env=shown.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "answers.json").read_text())


@pytest.fixture(scope="module")
def expected():
    return tomllib.loads((HERE / "names.toml").read_text(encoding="utf-8"))


def test_the_window_has_the_names_that_are_expected_of_it(answers, expected):
    there = {(row["role"], row["name"]) for row in answers[2]}
    wanted = {(role, name) for role, names in expected["names"].items() for name in names}
    assert wanted - there == set()


def test_cards_are_children_of_the_graph_with_relations_along_the_wires(answers, expected):
    rows = answers[2]
    at = next(k for k, row in enumerate(rows) if row["name"] == "Computation graph")
    depth = rows[at]["depth"]
    within = list(itertools.takewhile(lambda row: row["depth"] > depth, rows[at + 1 :]))
    items = [row for row in within if row["role"] == "list item"]
    # What lies on top of the graph, such as its buttons, follows the cards and wires.
    assert [row["depth"] for row in within[: len(items)]] == [depth + 1] * len(items)
    assert within[: len(items)] == items
    cards = expected["cards"]
    assert [row["name"] for row in items[: len(cards)]] == cards
    relations = {row["name"]: row["relations"] for row in items}
    assert set(relations[Z]["flows from"]) == set(cards[:2])
    assert relations[Z]["flows to"] == [SUM]
    assert "flows to" not in relations[cards[-1]]
    assert [row["name"] for row in items].count("from z to add, gradient back × 1 → 8") == 2


def test_everything_that_takes_the_focus_has_a_name(answers):
    nameless = [
        row for row in answers[2] if row["focusable"] and row["showing"] and not row["name"]
    ]
    assert nameless == []


def test_the_focus_follows_the_wires(answers):
    assert answers[4] is True
    assert answers[5] == [SUM]
    assert answers[6] == [Z]
    assert answers[7] == ["from z to add, gradient back × 1 → 8"]
    assert answers[8] == ["Computation graph"]


def test_each_event_is_announced_in_a_sentence(answers):
    assert answers[10] == ["Start of the tape, nothing has run"]
    # The values are the program's, 2 * 3.
    assert [answers[12], answers[14], answers[16]] == [
        ["x = 2.0000 (parameter)"],
        ["y = 3.0000 (parameter)"],
        ["mul made z = 6.0000"],
    ]
    names = [row["name"] for row in answers[17]]
    assert "mul, z, value 6.0000" in names
    assert "add, not reached yet" in names
