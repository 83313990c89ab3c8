import pytest
from PySide6.QtGui import QColor, QFontInfo, QPalette
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton

from gradscribe.widgets.base import stylesheet
from gradscribe.widgets.base.theme import (
    THEMES,
    InvalidTheme,
    Theme,
    choose_families,
    contrast,
    faded,
    mix,
    mono_font,
    parse,
    token_names,
    ui_font,
)
from tests.widgets.colour_vision import EYES, distance

TEXTS = [
    ("ink", "surface"),
    ("ink", "canvas"),
    ("ink", "panel"),
    ("ink", "panel2"),
    ("ink", "selection_soft"),
    ("ink", "module_soft"),
    ("ink", "parameter_soft"),
    ("ink", "data_soft"),
    ("ink", "constant_soft"),
    ("ink", "frame_even"),
    ("ink", "frame_odd"),
    ("ink2", "surface"),
    ("ink2", "panel"),
    ("ink2", "panel2"),
    ("ink2", "module_soft"),
    ("ink2", "frame_even"),
    ("ink3", "surface"),
    ("ink3", "canvas"),
    ("surface", "ink"),
    ("backward", "backward_soft"),
    ("backward", "canvas"),
    ("backward", "surface"),
    ("forward", "forward_soft"),
    ("forward", "surface"),
    ("parameter", "parameter_soft"),
    ("data", "data_soft"),
    ("on_selection", "selection"),
    ("error", "error_soft"),
    ("error", "panel"),
    ("ink", "error_soft"),
    ("ink2", "error_soft"),
    ("data", "panel2"),
    ("data", "panel"),
]
MARKS = [
    ("line_strong", "surface"),
    ("edge", "canvas"),
    ("forward", "canvas"),
    ("backward", "canvas"),
    ("parameter", "canvas"),
    ("data", "canvas"),
    ("constant", "canvas"),
    ("selection", "canvas"),
    ("module", "module_soft"),
]


@pytest.fixture(params=THEMES)
def theme(request, qapp):
    return Theme.load(request.param)


@pytest.mark.parametrize(("ink", "ground"), TEXTS)
def test_text_can_be_read_on_its_ground(theme, ink, ground):
    assert contrast(theme.color(ink), theme.color(ground)) >= 4.5


@pytest.mark.parametrize(("mark", "ground"), MARKS)
def test_marks_and_borders_can_be_seen(theme, mark, ground):
    assert contrast(theme.color(mark), theme.color(ground)) >= 3


@pytest.fixture(params=[name for name in THEMES if name.startswith("contrast")])
def strong(request, qapp):
    return Theme.load(request.param)


@pytest.mark.parametrize(("ink", "ground"), TEXTS)
def test_text_with_high_contrast_has_seven_to_one(strong, ink, ground):
    assert contrast(strong.color(ink), strong.color(ground)) >= 7


@pytest.mark.parametrize(("mark", "ground"), [*MARKS, ("line", "panel"), ("line", "surface")])
def test_borders_with_high_contrast_can_be_seen_even_hairlines(strong, mark, ground):
    assert contrast(strong.color(mark), strong.color(ground)) >= 3


def test_what_is_not_reached_can_be_read_with_high_contrast(strong):
    from gradscribe.widgets.graph.paint.card.cards import unreached_theme

    pale = unreached_theme(strong)
    for ground in ("surface", "module_soft", "parameter_soft", "data_soft", "constant_soft"):
        assert contrast(pale.ink, pale.color(ground)) >= 7
    assert contrast(pale.line_strong, pale.canvas) >= 3


def test_lines_are_thicker_with_high_contrast_and_only_there(strong):
    usual = Theme.load("dark" if strong.dark else "light")
    assert usual.stroke(1.5) == 1.5
    assert strong.stroke(1.5) > 2
    assert strong.scaled(2.0).high_contrast
    assert "1px solid" in usual.stylesheet()
    assert "1px solid" not in strong.stylesheet()
    assert "3px solid" in strong.stylesheet()


def test_a_chosen_font_goes_before_the_usual_ones_and_one_that_is_missing_changes_nothing(qapp):
    usual, before = ui_font(12).families(), Theme.load("light")
    try:
        assert choose_families("DejaVu Serif", "")
        assert ui_font(12).families()[0] in ("DejaVu Serif", usual[0])
        # Another theme, so that no widget takes it for the one that it has.
        assert Theme.load("light") is not before
        assert not choose_families("DejaVu Serif", "")
        choose_families("No Such Family", "No Such Family")
        assert ui_font(12).families() == usual
        assert "No Such Family" not in mono_font(12).families()
    finally:
        choose_families("", "")


@pytest.mark.parametrize("role", ["parameter", "data", "constant"])
def test_the_border_of_a_pill_can_be_seen_on_the_canvas(theme, role):
    assert contrast(mix(theme.color(role), theme.canvas, 0.78), theme.canvas) >= 3


@pytest.mark.parametrize("eye", EYES)
def test_forward_and_backward_differ_for_every_kind_of_eye(theme, eye):
    assert distance(theme.forward, theme.backward, eye) > 15


@pytest.mark.parametrize("other", ["backward", "data"])
def test_an_error_looks_neither_like_a_gradient_nor_like_data(theme, other):
    assert distance(theme.error, theme.color(other)) > 15


def test_a_scaled_theme_has_the_same_colours_and_bigger_text(theme):
    big = theme.scaled(1.5)
    assert big is theme.scaled(1.5)
    assert (big.ink, big.dark, big.name) == (theme.ink, theme.dark, theme.name)
    assert big.font(20).pixelSize() == 30
    assert theme.scaled(1.0) is theme


def test_the_distance_of_colours_agrees_with_known_ones():
    black, white = QColor("#000000"), QColor("#FFFFFF")
    assert distance(black, white) == pytest.approx(100, abs=0.1)
    assert distance(white, white) == pytest.approx(0, abs=1e-9)


def test_contrast_agrees_with_the_definition():
    black, white = QColor("#000000"), QColor("#FFFFFF")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, black) == pytest.approx(21)
    assert contrast(white, white) == pytest.approx(1)
    assert contrast(QColor("#777777"), white) == pytest.approx(4.48, abs=0.01)


def test_both_themes_have_the_tokens_of_the_specification():
    light, dark = Theme.load("light"), Theme.load("dark")
    for theme, code in ((light, "#c2185b"), (dark, "#ff5797")):
        assert theme.backward.name() == code
    assert (light.canvas.name(), dark.canvas.name()) == ("#f4f6f9", "#12151a")
    assert (light.dark, dark.dark) == (False, True)


def test_a_theme_is_loaded_once():
    assert Theme.load("light") is Theme.load("light")


def test_a_theme_that_is_not_there_is_a_missing_file():
    with pytest.raises(FileNotFoundError):
        Theme.load("sepia")


def written(**changed):
    light = Theme.load("light")
    codes = {name: light.color(name).name() for name in token_names()} | changed
    lines = [f'{name} = "{code}"' for name, code in codes.items() if code]
    return "dark = false\n[all]\n" + "\n".join(lines)


def test_a_written_theme_is_read_back():
    assert parse("mine", written(ink="#010203")).ink == QColor(1, 2, 3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (written(ink=""), "ink"),
        (written(ink="ultraviolett"), "ultraviolett"),
        (written(glitter="#123456"), "glitter"),
        ("[[", "mine"),
    ],
)
def test_a_broken_theme_says_what_is_wrong_with_it(text, told):
    with pytest.raises(InvalidTheme, match=told):
        parse("mine", text)


def test_the_palette_is_complete_and_greys_what_is_disabled(theme):
    palette = theme.palette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for each in (group.Active, group.Inactive):
        assert palette.color(each, role.Text) == theme.ink
        assert palette.color(each, role.Window) == theme.panel2
        assert palette.color(each, role.Highlight) == theme.selection
    grey = palette.color(group.Disabled, role.ButtonText)
    assert contrast(grey, theme.panel) < contrast(theme.ink, theme.panel)


def test_the_style_sheet_has_no_gap_and_qt_takes_it(theme, qtbot):
    sheet = theme.stylesheet()
    assert "@" not in sheet
    assert theme.selection.name() in sheet
    button = QPushButton("Play")
    qtbot.addWidget(button)
    button.setProperty("primary", True)
    button.setStyleSheet(sheet)
    button.resize(90, 34)
    # Qt reports a sheet that it cannot parse as a warning, which fails the test.
    assert button.grab().toImage().pixelColor(12, 17) == theme.selection


def test_the_button_that_clears_a_field_stands_in_its_middle(theme, qtbot):
    field = QLineEdit()
    qtbot.addWidget(field)
    field.setStyleSheet(theme.stylesheet())
    field.setClearButtonEnabled(True)
    field.resize(300, 27)
    field.show()
    field.setText("layer")
    box = field.findChild(QToolButton).geometry()
    assert abs(box.center().y() - field.rect().center().y()) <= 1
    assert field.rect().contains(box)


def test_type_sizes_of_the_style_sheet_follow_the_scale(theme):
    assert "font-size: 15px" in theme.stylesheet()
    assert "font-size: 30px" in theme.stylesheet(2.0)
    assert "min-height: 18px" in theme.stylesheet(2.0)


def test_the_longer_of_two_token_names_wins():
    tokens = {"ink": "#111111", "ink2": "#222222"}
    sheet = stylesheet.fill(tokens, ["Mono"])
    assert "#1111112" not in sheet
    assert '"Mono"' in sheet


def test_figures_are_tabular_so_that_numbers_stand_in_columns(qapp):
    from PySide6.QtGui import QFontMetricsF

    measure = QFontMetricsF(ui_font(17, 600))
    widths = [measure.horizontalAdvance(digit) for digit in "0123456789"]
    assert max(widths) - min(widths) < 0.1


def test_the_mono_font_is_one(qapp):
    assert QFontInfo(mono_font(12)).fixedPitch()


def test_fonts_are_copies_that_one_may_change(qapp):
    ui_font(13).setBold(True)
    assert not ui_font(13).bold()


def test_mixing_keeps_between_the_two_colours():
    black, white = QColor("#000000"), QColor("#FFFFFF")
    assert mix(white, black, 0.5).red() == 128
    assert mix(white, black, 1.0) == white
    assert mix(white, black, 0.0) == black


def test_fading_changes_the_opacity_only():
    color = faded(QColor("#102030"), 0.25)
    assert (color.red(), color.green(), color.blue()) == (16, 32, 48)
    assert color.alphaF() == pytest.approx(0.25, abs=0.01)
