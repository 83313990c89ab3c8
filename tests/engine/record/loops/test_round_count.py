"""The number of rounds of a ``for`` statement is read off its text and its names."""

import ast

import pytest

from gradscribe.engine.record.loops.round_count import round_count

NAMES: dict[str, object] = {
    "n": 7,
    "epochs": 3,
    "data": [1, 2, 3, 4],
    "flag": True,
    "huge": 10**12,
    "words": {"a", "b"},
}


@pytest.mark.parametrize(
    "text",
    [
        "range(20)",
        "range(n)",
        "range(2, n)",
        "range(n, 0, -2)",
        "range(n * epochs + 1)",
        "range(n // 2)",
        "enumerate(data)",
        "data",
        "list(range(n))",
        "range(5, 2)",
    ],
)
def test_the_count_is_that_of_python(text: str) -> None:
    expected = len(list(eval(text, dict(NAMES))))
    assert round_count(ast.parse(text, mode="eval").body, NAMES) == expected


@pytest.mark.parametrize("text", ["tqdm(range(n))", "tqdm.tqdm(range(n))", "trange(n)"])
def test_a_progress_bar_has_the_count_of_its_range(text: str) -> None:
    assert round_count(ast.parse(text, mode="eval").body, NAMES) == 7


@pytest.mark.parametrize(
    "text",
    [
        "range(unknown)",
        "range(flag)",
        "range(huge)",
        "range(n, 3, 0)",
        "range(n // 0)",
        "range(f(n))",
        "words",
        "zip(data, data)",
        "range(stop=3)",
        "range()",
    ],
)
def test_all_else_has_no_count(text: str) -> None:
    assert round_count(ast.parse(text, mode="eval").body, NAMES) is None
    assert round_count(None, NAMES) is None
