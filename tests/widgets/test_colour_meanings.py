"""Meanings that stand next to each other differ for every kind of eye, or by more than colour."""

import itertools
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from gradscribe.widgets.base.theme import THEMES, Theme, contrast
from gradscribe.widgets.graph.paint import heat, shapes
from gradscribe.widgets.graph.paint.card import bubbles, tints
from gradscribe.widgets.plots.drawing import colors
from tests.widgets.colour_vision import EYES, distance

APART = 9.0
"""Least CIEDE2000 distance of two colours that alone tell two meanings apart; a difference that is
seen at a glance is 5 and more."""
SIZE = 40


def drawn(paint):
    """Return the picture that ``paint`` makes with a painter, as bytes."""
    image = QImage(SIZE, SIZE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint(painter)
    return bytes(image.constBits())


def colourless(theme):
    """Return the theme with one colour for every meaning."""
    names = ("forward", "backward", "parameter", "data", "constant", "module", "error", "selection")
    return replace(theme, **dict.fromkeys(names, theme.ink))


def sign(kind):
    return lambda theme: drawn(
        lambda painter: shapes.role_sign(painter, kind, QPointF(20, 20), colourless(theme))
    )


def triangle(theme):
    """The sign before every gradient."""

    def paint(painter):
        painter.setBrush(theme.ink)
        painter.drawPolygon(shapes.up_triangle(QPointF(20, 20), 6))

    return drawn(paint)


def curve(dashes):
    def paint(painter):
        pen = QPen(QColor("black"), 2)
        if dashes:
            pen.setDashPattern([dash / 2 for dash in dashes])
        painter.setPen(pen)
        painter.drawLine(0, 20, SIZE, 20)

    return lambda theme: drawn(paint)


def mark(index):
    shape = colors.class_shape(index)
    return lambda theme: drawn(
        lambda painter: colors.draw_mark(painter, shape, QPointF(20, 20), 8.0)
    )


COLOUR = None
"""Marks a pair that nothing but colour tells apart."""
ROLES = {"parameter": sign("parameter"), "data": sign("data"), "constant": sign("constant")}
PAIRS = {
    # What runs along a wire, and the numbers of both passes on a card.
    ("forward", "backward"): COLOUR,
    # Leaves of the graph, and the gradients on them.
    ("parameter", "data"): (ROLES["parameter"], ROLES["data"]),
    ("parameter", "constant"): (ROLES["parameter"], ROLES["constant"]),
    ("data", "constant"): (ROLES["data"], ROLES["constant"]),
    ("backward", "parameter"): (triangle, ROLES["parameter"]),
    ("backward", "data"): (triangle, ROLES["data"]),
    ("forward", "parameter"): COLOUR,
    ("forward", "data"): COLOUR,
    # Right and wrong of the confusion matrix, a failed card among those that ran.
    ("forward", "error"): COLOUR,
    # The scrubber's phases: forward, loss, backward, update.
    ("backward", "ink"): COLOUR,
    ("forward", "ink"): COLOUR,
}


def confusable(theme):
    """Return the pairs of meanings that some eye cannot tell apart in a theme."""
    found = []
    for (a, b), doubled in PAIRS.items():
        for eye in EYES:
            near = distance(theme.color(a), theme.color(b), eye) < APART
            if near and (doubled is COLOUR or doubled[0](theme) == doubled[1](theme)):
                found.append((a, b, eye))
    return found


@pytest.fixture(params=THEMES)
def theme(request, qapp):
    return Theme.load(request.param)


def test_every_pair_of_meanings_is_told_apart_by_every_eye(theme):
    assert confusable(theme) == []


def test_a_spoilt_colour_is_found(theme):
    spoilt = replace(theme, forward=theme.backward)
    assert ("forward", "backward", "usual") in confusable(spoilt)
    # Red and green of the same lightness are one colour to protans or deutans.
    red, green = QColor("#A05A00"), QColor("#6B7A00")
    found = confusable(replace(theme, forward=red, error=green))
    assert {eye for a, b, eye in found if (a, b) == ("forward", "error")} & {"protan", "deutan"}


def test_the_signs_of_roles_differ_without_colour(theme):
    pictures = [*(sign(theme) for sign in ROLES.values()), triangle(theme)]
    assert len(set(pictures)) == len(pictures)


def test_the_bubble_of_a_gradient_has_room_for_its_sign(qapp):
    bubble = bubbles.bubble_box(QRectF(0, 0, 30, 16), "1.0", 1.0)
    assert bubble.width() > shapes.text_width("1.0", 11, 600) + 12


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", EYES)
def test_the_first_three_classes_differ_by_colour_and_all_by_shape(dark, eye):
    for a, b in itertools.combinations(range(3), 2):
        assert distance(colors.class_color(a, dark), colors.class_color(b, dark), eye) >= APART
        assert distance(colors.class_fill(a, dark), colors.class_fill(b, dark), eye) >= APART - 2
    pictures = [mark(index)(None) for index in range(len(colors.SHAPES))]
    assert len(set(pictures)) == len(pictures)


def test_curves_of_runs_differ_by_their_dashes(qapp):
    pictures = [curve(colors.run_dashes(index))(None) for index in range(len(colors.DASHES))]
    assert len(set(pictures)) == len(pictures)
    # Training and validation of the same run, as app/training/session/curves.py draws them.
    assert curve(())(None) != curve((5, 3))(None)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", EYES)
def test_minus_zero_and_plus_of_heat_maps_are_told_apart(dark, eye):
    minus, zero, plus = (heat.color(x, 1.0, dark) for x in (-1.0, 0.0, 1.0))
    for a, b in itertools.combinations((minus, zero, plus), 2):
        assert distance(a, b, eye) > 2 * APART


@pytest.mark.parametrize("eye", EYES)
def test_groups_of_cards_are_told_apart(eye):
    for a, b in itertools.combinations(range(6), 2):
        assert distance(tints.group_color(a), tints.group_color(b), eye) >= APART


def test_curves_and_points_can_be_seen_on_their_ground(theme):
    for kind, count in ((colors.class_color, 10), (colors.run_color, 7)):
        for index in range(count):
            assert contrast(kind(index, theme.dark), theme.panel) >= 3
    for place in range(8):
        assert contrast(colors.depth_color(place, 8, theme.dark), theme.panel) >= 3
