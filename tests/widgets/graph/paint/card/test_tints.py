"""Colours of the colour modes: readable, ordered, and apart for every kind of eye."""

import itertools

import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.coloring import Tint
from gradscribe.widgets.base.theme import THEMES, Theme, contrast, mix
from gradscribe.widgets.graph.paint.card import tints
from tests.widgets import colour_vision
from tests.widgets.pixels import painted

BOX = QRectF(40, 40, 164, 58)
SHARES = {"signed": (-1, -0.5, 0, 0.5, 1), "gradient": (0, 0.5, 1), "amount": (0, 0.5, 1)}


@pytest.fixture(params=THEMES)
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
        assert contrast(theme.ink, ground) >= (7 if theme.high_contrast else 4.5), tint
        assert contrast(theme.ink2, ground) >= (7 if theme.high_contrast else 3.0), tint


def test_a_name_can_be_read_on_every_full_colour(theme):
    for tint in every():
        ground = tints.color(tint, theme.dark)
        assert contrast(tints.name_color(tint, theme), ground) >= 4.5, tint


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


def test_a_folded_module_runs_from_its_weakest_to_its_strongest_parameter(theme):
    tint = Tint("1 … 2", "gradient", 0.8, least=0.1)
    for pale in (True, False):
        fill = tints.blend(tint, BOX, theme, pale)
        seen = painted(lambda p, fill=fill: p.fillRect(BOX, fill), (240, 130), theme.canvas.name())
        ends = (seen[60, 42], seen[60, 201])
        whole = (tints.weakest_color(tint, theme.dark), tints.color(tint, theme.dark))
        for end, color in zip(ends, whole, strict=True):
            wanted = mix(color, theme.surface, tints.GROUND) if pale else color
            assert abs(end - [wanted.red(), wanted.green(), wanted.blue()]).max() <= 6


@pytest.mark.parametrize(
    ("tint", "words"),
    [
        (Tint("0.5", "gradient", 0.5, stated="gradient"), ""),
        (Tint("↓ 1e−9", "gradient", 0.0, alarm=True, stated="gradient"), "↓ vanishing"),
        (Tint("↑ ∞", "gradient", 1.0, alarm=True, stated="gradient"), "↑ exploding"),
        (Tint("2.0000", "signed", 0.5, stated="value"), ""),
        (Tint("mean 2.0000", "signed", 0.5), "mean 2.0000"),
        (Tint("20 B", "amount", 0.5), "20 B"),
    ],
)
def test_a_badge_repeats_no_number_of_its_card(tint, words):
    assert tints.unrepeated(tint, "2.0000", "∇ 0.5").words == words
    assert tints.unrepeated(tint, "", "").words == tint.words


def test_a_badge_reaches_no_deeper_into_its_card_from_afar(qapp):
    assert tints.badge_box(BOX, "x", 1.25).bottom() == tints.badge_box(BOX, "x").bottom()
