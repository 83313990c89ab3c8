"""Values are called what the program calls them."""

import pytest

from gradscribe.engine.run import run

LOOP = """
import torch
{leaves}
for epoch in range(3):
    loss = (torch.ones(4, 2) @ {w} + {b} - 3).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in ({w}, {b}):
            p -= 0.1 * p.grad
            p.grad = None
"""
VARIABLES = "w, b = torch.zeros(2, requires_grad=True), torch.zeros((), requires_grad=True)"
LIST = "ws = [torch.zeros(n, requires_grad=True) for n in (2, 1)]"


@pytest.mark.parametrize(
    ("leaves", "w", "b"), [(VARIABLES, "w", "b"), (LIST, "ws[0]", "ws[1]")], ids=["names", "list"]
)
def test_an_update_in_a_loop_leaves_the_names_of_leaves_alone(leaves, w, b):
    tape = run.record(LOOP.format(leaves=leaves, w=w, b=b))
    versions = {}
    for value in tape.values:
        if value.role == "parameter":
            versions.setdefault(value.tensor, []).append((value.name, value.version))
    assert list(versions.values()) == [[(name, at) for at in range(4)] for name in (w, b)]


def test_a_leaf_without_a_name_of_its_own_has_that_of_the_loop():
    source = "import torch\nfor p in (torch.zeros(2, requires_grad=True),):\n"
    source += "    with torch.no_grad():\n        p += 1\ndel p\n"
    names = [value.name for value in run.record(source).values if value.role == "parameter"]
    assert names[-1] == "p"
