import pytest

from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.editor.style import EditorStyle


@pytest.fixture(params=["light", "dark"])
def style(request, qtbot):
    return EditorStyle(Theme.load(request.param), 13)


def test_each_phase_lights_its_row_in_its_own_colours(style):
    theme = style.theme
    assert style.band("forward")[:2] == (theme.forward_soft, theme.forward)
    assert style.band("backward")[:2] == (theme.backward_soft, theme.backward)
    assert style.band("update")[:2] == (theme.parameter_soft, theme.parameter)


def test_code_can_be_read_on_every_lit_row(style):
    theme = style.theme
    bands = [style.band(phase) for phase in ("forward", "backward", "update")]
    for band in (*bands, style.error_band()):
        for ink in (theme.ink, theme.forward, theme.data, theme.ink2):
            assert contrast(ink, band.fill) >= 3.9


def test_errors_are_not_the_colour_of_gradients(style):
    apart = abs(style.error.hslHue() - style.theme.backward.hslHue())
    assert min(apart, 360 - apart) >= 30


def test_all_sizes_grow_with_the_text(style):
    big = EditorStyle(style.theme, 26)
    assert big.gap == pytest.approx(2 * style.gap, abs=2)
    for name in ("font", "number_font", "value_font", "gradient_font"):
        assert getattr(big, name).pixelSize() > 1.7 * getattr(style, name).pixelSize()
