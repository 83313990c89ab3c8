"""The engine's source is lent to other Pythons: the oldest of them can read it."""

import ast
from pathlib import Path

from gradscribe.app.link.interpreters import OLDEST_PYTHON

ENGINE = Path(__file__).parents[2] / "engine"


def test_the_oldest_python_can_parse_the_engine():
    # Which of the standard library's names it has is checked by mypy, in `make check`.
    sources = sorted(ENGINE.rglob("*.py"))
    assert sources
    for source in sources:
        ast.parse(source.read_text("utf-8"), str(source), feature_version=OLDEST_PYTHON)
