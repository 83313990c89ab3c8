"""Axes note what is plotted on them; handles take anything."""

import pytest

from gradscribe.engine.plotting.axes import NullHandle, RecordedAxes, numbers


def test_a_handle_takes_whatever_is_done_to_it():
    handle = NullHandle()
    (first,) = handle
    assert first.set_color("red") is handle
    handle["a"] = 1
    assert handle["a"].any().chain is handle
    with pytest.raises(AttributeError):
        handle.__array__  # noqa: B018


@pytest.mark.parametrize(
    ("given", "color", "style", "kind"),
    [
        ("r-", "red", "solid", "line"),
        ("k:", "black", "dotted", "line"),
        ("b--o", "blue", "dashed", "line"),
        ("g^", "green", "solid", "points"),
        ("C1", "", "solid", "line"),
        ("-.", "", "dashed", "line"),
    ],
)
def test_formats_are_read_as_matplotlib_reads_them(given, color, style, kind):
    axes = RecordedAxes(lambda _name: NullHandle())
    axes.plot([1, 2], [3, 4], given)
    (trace,) = axes.to_data().traces
    assert (trace.color, trace.style, trace.kind) == (color, style, kind)


def test_numbers_are_thinned_out_evenly():
    assert numbers(range(5)) == (0, 1, 2, 3, 4)
    thinned = numbers(range(4001))
    assert thinned[:2] == (0.0, 3.0)
    assert len(thinned) <= 2000
