"""Colours of the colour modes: readable, ordered, and apart for every kind of eye."""

import itertools

import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.coloring import Tint
from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.graph.paint import tints
from tests.widgets import colour_vision
from tests.widgets.pixels import painted

BOX = QRectF(40, 40, 164, 58)
SHARES = {"signed": (-1, -0.5, 0, 0.5, 1), "gradient": (0, 0.5, 1), "amount": (0, 0.5, 1)}


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


def every():
    for scale, shares in SHARES.items():
        for share in shares:
            yield Tint("x", scale, share)
    for group in range(8):
        yield Tint("x", "groups", group=group)


def test_text_can_be_read_on_every_ground(theme):
    for tint in every():
        ground = tints.card_fill(tint, theme)
        assert contrast(theme.ink, ground) >= 4.5, tint
        assert contrast(theme.ink2, ground) >= 3.0, tint


@pytest.mark.parametrize("scale", ["gradient", "amount"])
@pytest.mark.parametrize("eye", colour_vision.EYES)
def test_more_looks_like_more_to_every_eye(theme, scale, eye):
    light = [
        colour_vision.lab(tints.color_at(scale, share / 8, theme.dark), eye)[0]
        for share in range(9)
    ]
    steps = [b - a for a, b in itertools.pairwise(light)]
    assert all(step > 3 for step in steps) or all(step < -3 for step in steps)


def test_the_first_groups_differ_for_every_eye():
    for eye in colour_vision.EYES:
        for a, b in itertools.combinations(range(6), 2):
            apart = colour_vision.distance(tints.group_color(a), tints.group_color(b), eye)
            assert apart > 9, (eye, a, b)


def test_after_the_last_colour_the_first_comes_again():
    assert tints.group_color(8) == tints.group_color(0)


def test_an_alarm_and_its_words_are_seen_without_colour(theme):
    def badge(words, alarm):
        tint = Tint(words, "gradient", 1.0, alarm=alarm)
        return painted(
            lambda p: tints.paint_badge(p, BOX, tint, theme), background=theme.canvas.name()
        )

    assert (badge("1e5", True) != badge("1e5", False)).any()
    assert (badge("1e5", True) != badge("2e5", True)).any()


def test_a_badge_sits_on_the_upper_left_corner_and_leaves_the_first_line_free(qapp):
    box = tints.badge_box(BOX, "0.5030")
    assert box.left() > BOX.left()
    assert box.top() < BOX.top() < box.bottom() < BOX.top() + 8
