"""The chip that tells what colours mean."""

import itertools

import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.ui.canvas.color_legend import MAX_GROUPS, ColorModeLegend, ColorScaleBar
from gradscribe.playback.graph.coloring import ColorLegend
from gradscribe.widgets.base.theme import Theme


@pytest.fixture
def chip(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(600, 400)
    host.show()
    made = ColorModeLegend(host)
    made.host = host
    return made


def test_it_is_there_only_while_colours_mean_something(chip):
    assert chip.isHidden()
    key = ColorLegend("Gradient norm", "gradient", ("1e−6", "1e2"), note="log scale")
    chip.show_legend(key, Theme.load("light"))
    assert chip.isVisible()
    assert chip.title.text() == "Gradient norm"
    assert "1e−6" in chip.accessibleDescription()
    chip.show_legend(None, Theme.load("light"))
    assert chip.isHidden()


def test_every_group_has_a_row_and_too_many_are_counted(chip):
    names = tuple(f"net.{n}" for n in range(MAX_GROUPS))
    chip.show_legend(ColorLegend("Module", "groups", groups=names), Theme.load("light"))
    assert chip.bar.rows() == names
    chip.show_legend(
        ColorLegend("Module", "groups", groups=(*names, "a", "b")), Theme.load("light")
    )
    assert len(chip.bar.rows()) == MAX_GROUPS
    assert chip.bar.rows()[-1] == "… and 3 more"


def test_bar_and_groups_look_unlike_in_both_themes(chip):
    images = []
    for theme in ("light", "dark"):
        for key in (
            ColorLegend("a", "signed", ("−1", "0", "1")),
            ColorLegend("a", "amount", ("0 B", "4 B")),
            ColorLegend("a", "groups", groups=("cpu",)),
        ):
            chip.show_legend(key, Theme.load(theme))
            images.append(chip.bar.grab().toImage())
    assert all(a != b for n, a in enumerate(images) for b in images[:n])


def test_done_is_told(chip, qtbot):
    chip.show_legend(ColorLegend("a", "amount", ("0 B", "4 B")), Theme.load("light"))
    with qtbot.waitSignal(chip.ended):
        chip.end_button.click()


def test_where_there_is_little_room_the_note_is_a_tip(chip):
    key = ColorLegend("Gradient norm", "gradient", ("1e−6", "1e2"), note="log scale")
    chip.show_legend(key, Theme.load("light"))
    assert chip.note.isVisible()
    high = chip.height()
    chip.set_compact(True, 600)
    assert not chip.note.isVisible()
    assert chip.height() < high
    assert "log scale" in chip.bar.toolTip()
    chip.set_compact(False, 600)
    assert (chip.note.isVisible(), chip.height()) == (True, high)


def test_an_answer_stays_where_there_is_little_room_and_is_broken_into_lines(chip):
    words = "12 cards lead to loss, over a module that is folded and two views"
    chip.show_legend(ColorLegend("What leads here", "groups", note=words), Theme.load("light"))
    chip.set_compact(False, 600)
    wide, low = chip.width(), chip.height()
    chip.set_compact(True, 220)
    assert chip.note.isVisible()
    assert chip.width() < wide
    assert chip.height() > low
    lines = chip.note.heightForWidth(chip.note.width())
    assert chip.note.height() >= lines
    scale = ColorLegend("Gradient norm", "gradient", ("1e−6", "1e2"), note="log scale")
    chip.show_legend(scale, Theme.load("light"))
    assert not chip.note.isVisible()


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(
    "ticks", [("1e−6", "1e−4", "1e−2", "1", "1e2"), ("−0.000123", "0", "0.000123"), ("0", "1")]
)
def test_numbers_of_the_bar_do_not_overlap(qtbot, scale, ticks):
    bar = ColorScaleBar()
    qtbot.addWidget(bar)
    bar.set_key(ColorLegend("Norm", "gradient", ticks), Theme.load("light").scaled(scale))
    spans = [span for span in bar.label_spans() if span[0]]
    assert (spans[0][0], spans[-1][0]) == (ticks[0], ticks[-1])
    assert spans[0][1] >= 0
    assert spans[-1][2] <= bar.width()
    for (_, _, end), (_, start, _) in itertools.pairwise(spans):
        assert start >= end
    if scale == 1.0:
        assert len(spans) == len(ticks), "there is space for all"


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_note_of_several_lines_is_whole(chip, scale):
    chip.host.setStyleSheet(Theme.load("light").scaled(scale).stylesheet(scale))
    key = ColorLegend(
        "Gradient norm", "gradient", ("1e−6", "1e2"), note="log scale, exploding " * 3
    )
    chip.show_legend(key, Theme.load("light").scaled(scale))
    chip.set_compact(False, 200)
    chip.layout().activate()
    assert chip.note.height() >= chip.note.heightForWidth(chip.note.width())
    assert chip.rect().contains(chip.note.geometry())
