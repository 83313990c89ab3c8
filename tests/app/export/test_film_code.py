"""The program in a film: the editor's own picture, at each position."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradscribe.app.export.encoders import pixels
from gradscribe.app.export.film_code import MAX_WIDTH, MIN_WIDTH, FilmCode
from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.card.cards import Layers
from tests.app import films

LONG = films.SOURCE + "".join(f"x{n} = {n}\n" for n in range(80))
BOX = QRectF(0, 0, 360, 240)
EVERY_LAYER = Layers()


def drawn(code, position, line=0, phase="forward", scale=1.0):
    image = QImage(round(360 * scale), round(240 * scale), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    with QPainter(image) as painter:
        code.paint(painter, BOX, position, Look({}, {}, line=line, phase=phase))
    return pixels(image).astype(int)


@pytest.fixture
def make(qapp):
    made = []

    def make(source=films.SOURCE, theme="light", layers=EVERY_LAYER):
        code = FilmCode(films.tape(), source, Theme.load(theme), layers)
        for _ in code.prepare():
            pass
        made.append(code)
        return code

    yield make
    for code in made:
        code.close()


def near(picture, color):
    return np.abs(picture - (color.red(), color.green(), color.blue())).max(axis=-1) < 12


def test_the_line_that_plays_is_lit_in_the_colour_of_its_phase(make):
    code, theme = make(), Theme.load("light")
    for line, phase, color in (
        (3, "forward", theme.forward_soft),
        (5, "backward", theme.backward_soft),
    ):
        lit = np.flatnonzero(near(drawn(code, 4, line, phase), color).mean(axis=1) > 0.5)
        assert 10 < len(lit) < 40
        middle = (lit[0] + lit[-1]) / 2
        assert middle == pytest.approx((line - 0.5) * 25, abs=14)


def test_a_layer_that_is_off_is_off_in_the_film_too(make):
    end, pink = len(films.tape().events), Theme.load("light").backward
    assert near(drawn(make(), end), pink).any()
    without = drawn(make(layers=Layers(gradients=False)), end)
    assert not near(without, pink).any()
    empty = drawn(make(layers=Layers(values=False, gradients=False)), end)
    assert np.abs(without - empty).max() > 50, "the values were still there"


def test_values_appear_once_their_lines_have_run(make):
    code = make()
    before, after = drawn(code, 0), drawn(code, len(films.tape().events))
    right = np.s_[:, 180:]
    assert np.abs(after[right] - before[right]).max() > 100
    theme = Theme.load("light")
    assert near(after, theme.backward_soft).any(), "gradients have their colour"
    assert np.array_equal(drawn(code, 0), before), "going back shows what was there"


def test_a_line_far_below_is_scrolled_to(make):
    code, theme = make(LONG), Theme.load("light")
    assert near(drawn(code, 4, 70), theme.forward_soft).mean() > 0.02
    assert near(drawn(code, 4, 2), theme.forward_soft).mean() > 0.02


def test_the_program_is_coloured_to_its_end_without_an_event_loop(make):
    code, theme = make("# first\n" + "a = 1\n" * 400 + "# last\n"), Theme.load("light")
    assert near(drawn(code, 0, 401), theme.ink3).any(), "the comment at the end has its colour"


def test_a_larger_film_has_sharper_text_and_not_more_lines(make):
    code = make()
    small, large = drawn(code, 4, 3), drawn(code, 4, 3, scale=2.0)
    theme = Theme.load("light")
    rows = [
        np.flatnonzero(near(picture, theme.forward_soft).mean(axis=1) > 0.5)
        for picture in (small, large)
    ]
    assert rows[1].mean() == pytest.approx(2 * rows[0].mean(), abs=4)


def test_its_width_follows_the_longest_line_within_limits(make):
    narrow, wide = make("a = 1\n"), make("a" * 400)
    assert narrow.width == MIN_WIDTH
    assert wide.width == MAX_WIDTH
    assert MIN_WIDTH < make("a = torch.tensor([1.0, 2.0])").width < MAX_WIDTH
