"""The check every derivative has to pass: torch's own shares, in float64, at several points."""

import itertools

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import local_derivative
from gradscribe.playback.tape.index import Index

POINTS = (-1.7, -0.4, 0.3, 0.9, 2.6)


def _locals(expression, points):
    """Run an expression of a, b, c at every choice of points; return every local derivative."""
    letters = [letter for letter in "abc" if f"{letter}" in expression.replace(".", " ").split()]
    lines = []
    for chosen in itertools.islice(itertools.product(points, repeat=len(letters)), 30):
        for letter, number in zip(letters, chosen, strict=True):
            lines.append(f"{letter} = tensor({number}, dtype=torch.float64, requires_grad=True)")
        lines.append(f"(1.5 * ({expression})).backward()")
    index = Index(record("\n".join(lines)))
    assert index.tape.status == "ok", index.tape.error
    found = []
    for number, edge in enumerate(index.tape.edges):
        if edge.execution is None or edge.gradient is None:
            continue
        if edge.target not in index.nodes:  # a leaf: the share of the expression itself
            found.append(local_derivative.local_derivative(index, number))
    return found


@pytest.fixture
def agrees():
    """Tell whether the table's derivative times what arrived is what torch sent, everywhere."""

    def check(expression, points=POINTS):
        found = _locals(expression, points)
        return bool(found) and None not in found

    return check
