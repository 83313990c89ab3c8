import pytest

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.legend import Legend
from gradscribe.widgets.graph.legend_samples import SAMPLES


@pytest.fixture
def legend(qtbot):
    made = Legend()
    qtbot.addWidget(made)
    made.resize(260, 460)
    return made


def test_every_row_is_explained_in_words(legend):
    said = [label.said() for label in legend.findChildren(Label)]
    for text, _ in SAMPLES:
        assert text in said


def test_the_colour_bar_names_its_ends(legend):
    assert legend.ends() == ("−", "0", "+")
    legend.set_range(8.0)
    assert legend.ends() == ("−8", "0", "+8")
    legend.set_range(None)
    assert legend.ends() == ("−", "0", "+")


def test_a_wide_legend_stands_in_two_columns_and_needs_less_height(legend):
    # A hidden widget hears of its new size when it is drawn.
    legend.resize(360, 300)
    legend.grab()
    assert legend.columns() == 2
    low = legend.minimumSizeHint().height()
    legend.resize(240, 300)
    legend.grab()
    assert legend.columns() == 1
    assert legend.minimumSizeHint().height() > 1.2 * low


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_samples_follow_the_theme(legend, theme):
    chosen = Theme.load(theme)
    legend.set_theme(chosen)
    picture = legend.grab().toImage()
    colors = {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }
    for token in ("parameter", "data", "backward", "forward"):
        assert chosen.color(token).name() in colors


def test_samples_that_are_painted_again_are_not_drawn_again(qtbot, monkeypatch):
    drawn = []
    rows = tuple(
        (text, lambda *given, text=text, draw=draw: (drawn.append(text), draw(*given)))
        for text, draw in SAMPLES
    )
    monkeypatch.setattr("gradscribe.widgets.graph.legend.SAMPLES", rows)
    made = Legend()
    qtbot.addWidget(made)
    made.resize(260, 460)
    before = made.grab().toImage()
    assert sorted(drawn) == sorted(text for text, _ in SAMPLES)
    assert made.grab().toImage() == before
    assert len(drawn) == len(SAMPLES)
    made.set_theme(Theme.load("dark"))
    assert made.grab().toImage() != before
    assert len(drawn) == 2 * len(SAMPLES)
    made.set_theme(Theme.load("light"))
    assert made.grab().toImage() == before


def test_in_larger_text_two_columns_need_more_room(legend):
    legend.resize(360, 300)
    legend.grab()
    assert legend.columns() == 2
    legend.set_theme(Theme.load("light").scaled(2.0))
    legend.resize(361, 300)
    legend.grab()
    assert legend.columns() == 1
    legend.resize(720, 300)
    legend.grab()
    assert legend.columns() == 2
