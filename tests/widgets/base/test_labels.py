import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QPushButton

from gradscribe.widgets.base import labels
from gradscribe.widgets.base.theme import Theme


@given(st.text(st.characters(exclude_characters="\u200b"), max_size=200))
def test_breaking_long_words_loses_nothing(text):
    assert labels.breakable(text).replace("\u200b", "") == text


def test_only_long_words_are_broken():
    assert labels.breakable("a short sentence of words") == "a short sentence of words"
    broken = labels.breakable("x" * 50, 20)
    assert [len(part) for part in broken.split("\u200b")] == [20, 20, 10]


def test_a_long_name_wraps_inside_a_narrow_panel(qtbot):
    label = labels.Label("heading", "a_very_long_name_" * 6)
    qtbot.addWidget(label)
    assert label.heightForWidth(120) > 2 * label.heightForWidth(2000)
    assert label.said() == "a_very_long_name_" * 6


@pytest.mark.parametrize("text", ["x" * 100_000, "word " * 20_000, "\n" * 100_000, "a\n" * 50_000])
def test_of_an_endless_text_the_beginning_is_shown(qtbot, text):
    label = labels.Label("words", text)
    qtbot.addWidget(label)
    shown = label.said().removesuffix(" …")
    assert text.startswith(shown)
    assert label.said() == f"{shown} …"
    assert len(shown) <= labels.MAX_CHARACTERS
    assert shown.count("\n") < labels.MAX_LINES


@pytest.mark.parametrize("text", ["x" * labels.MAX_CHARACTERS, "\n" * (labels.MAX_LINES - 1)])
def test_a_long_text_is_shown_whole(qtbot, text):
    label = labels.Label("words", text)
    qtbot.addWidget(label)
    assert label.said() == text


def test_text_is_never_taken_for_markup(qtbot):
    label = labels.Label("words", "<b>x</b> & y")
    qtbot.addWidget(label)
    assert label.said() == "<b>x</b> & y"
    assert label.sizeHint().width() > labels.Label("words", "x & y", label).sizeHint().width()


def test_a_heading_hides_an_empty_subtitle(qtbot):
    heading = labels.Heading("Title", "below")
    qtbot.addWidget(heading)
    tall = heading.sizeHint().height()
    heading.set_text("Title")
    assert heading.text() == ("Title", "")
    assert heading.sizeHint().height() < tall
    assert heading.accessibleName() == "Title"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sheet_fills_every_token(theme, qtbot):
    text = labels.sheet(Theme.load(theme))
    assert "@" not in text
    assert "%" not in text
    for role in labels.ROLES:
        assert f'role="{role}"' in text


def test_a_button_takes_its_width_from_the_title_alone(qtbot):
    """A subtitle of one long word was cut off next to the button."""
    heading = labels.Heading("gpt.h.5.attn", "CausalSelfAttention · 9,408 parameters")
    heading.add_button(QPushButton("Explore"))
    qtbot.addWidget(heading)
    heading.resize(200, 90)
    heading.layout().activate()
    title, subtitle = heading.findChildren(labels.Label)
    assert title.width() < 150
    assert subtitle.width() == 200


def test_numbers_of_gradients_are_drawn_in_the_backward_colour(qtbot):
    theme = Theme.load("light")
    label = labels.Label("big-gradient", "0.2071")
    qtbot.addWidget(label)
    label.setStyleSheet(labels.sheet(theme))
    label.ensurePolished()
    assert label.palette().windowText().color().name() == theme.backward.name()
    assert label.font().pixelSize() == 26


def test_what_looks_like_marks_is_shown_letter_by_letter():
    assert labels.tip("expected <class 'int'>") == "<qt>expected &lt;class &#x27;int&#x27;&gt;</qt>"
    assert labels.tip("a > b") == "a > b"
    assert labels.tip("<b>\nx") == "<qt>&lt;b&gt;<br>x</qt>"


def test_a_label_for_anybodys_text_measures_every_letter(qtbot):
    marked, bare = labels.plain_label("<b>x</b>"), labels.plain_label("x")
    qtbot.addWidget(marked)
    qtbot.addWidget(bare)
    assert marked.sizeHint().width() > 3 * bare.sizeHint().width()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("model.blocks.0.attention", ["model.", "blocks.0.", "attention"]),
        ("token_embedding.weight", ["token_", "embedding.", "weight"]),
        ("12345.678901234", ["12345.678901234"]),
        ("net.0.weight", ["net.0.", "weight"]),
        ("net.weight", ["net.weight"]),
    ],
)
def test_names_wrap_between_their_parts(text, lines):
    assert labels.breakable(text).split("\u200b") == lines


def test_a_title_next_to_a_button_is_not_cut_off(qtbot):
    heading = labels.Heading("model.blocks.0")
    qtbot.addWidget(heading)
    name = heading._title
    wide = name.fontMetrics().horizontalAdvance("model.blocks.0")
    assert name.heightForWidth(wide - 10) >= 2 * name.fontMetrics().height() > 0
    assert heading.text()[0] == "model.blocks.0"
