"""Sentences about measured costs."""

from gradscribe.engine.protocol.messages import CostRow, MeasuredCosts
from gradscribe.playback.text.cost_words import COLUMNS, cost_cells, cost_words

GRAPH = CostRow("graph", 3e-3, 2.9e-3, 3.1e-3, 51, 3_000, 2_000)
BARE = CostRow("no_grad", 2e-3, 1.9e-3, 2.1e-3, 51, 1_000, 4)
REVERSE = CostRow("reverse", 6e-3, 5.9e-3, 6.1e-3, 51)
ONE = CostRow("jvp", 4e-3, 3.9e-3, 4.1e-3, 51)
ALL = CostRow("jvps", 4.0, 3.9, 4.1, 0, estimated=True)


def test_recording_is_compared_in_time_and_memory():
    words = cost_words(MeasuredCosts(1, "no_grad", (GRAPH, BARE), 3, 1, 1_000))
    assert "3 calls of PyTorch from 1 leaf with 1,000 numbers" in words
    assert "on cpu with 1 thread" in words
    assert "Recording for backward takes 1.5 times the time" in words
    assert "at most 3 kB with the graph and 1 kB without" in words
    assert "backward keeps 2 kB alive, and without the graph 4 B are left" in words


def test_times_within_their_scatter_are_not_called_different():
    close = CostRow("no_grad", 2.8e-3, 2.7e-3, 2.95e-3, 51, 1_000, 4)
    words = cost_words(MeasuredCosts(1, "no_grad", (GRAPH, close), 3, 2, 1_000))
    assert "differ by less than their scatter" in words
    assert "Recording for backward takes" not in words


def test_the_modes_are_compared_by_the_whole_gradient():
    words = cost_words(MeasuredCosts(1, "modes", (BARE, REVERSE, ONE, ALL), 3, 2, 1_000))
    assert "by all 1,000 numbers in 6 ms, 3 times the time of a forward" in words
    assert "a single direction in 4 ms; all 1,000 would take 4 s, 667 times that" in words
    cells = cost_cells(MeasuredCosts(1, "modes", (REVERSE, ALL)))
    assert {len(row.cells) for row in cells} == {len(COLUMNS)}
    assert [row.share for row in cells] == [6e-3 / 4.0, 1.0]
    assert cells[1].cells[3] == "from one direction"


def test_what_is_wrong_or_missing_is_said():
    assert cost_words(MeasuredCosts(1, "modes", problem="Why")) == "Not measured. Why."
    words = cost_words(MeasuredCosts(1, "modes", (BARE, REVERSE), agrees=False, note="A note"))
    assert "A note" in words
    assert "do not give the same derivative" in words
    assert "random" in cost_words(MeasuredCosts(1, "modes", (BARE, REVERSE), is_random=True))
