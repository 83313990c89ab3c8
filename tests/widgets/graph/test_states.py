"""Not computed yet, zero, NaN and infinity look different, also to who sees no colour."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.widgets.base.theme import Theme
from tests.widgets.pixels import drawing_of, painted
from tests.widgets.scenes import Maker

STATES = {"not yet": 0.0, "zero": 0.0, "nan": float("nan"), "inf": float("inf"), "one": 1.0}
KINDS = ("parameter", "data", "constant", "op", "loss", "module")
ZOOMS = (0.5, 1.0)
GREY = np.array([0.2126, 0.7152, 0.0722])


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


def grey(theme, kind, state, zoom, shape):
    """Return a card's picture without colour."""
    m = Maker()
    m.card("c", kind, "c", (130, 60), np.full(shape, STATES[state]), (164, 58))
    look = Look({} if state == "not yet" else {"c": CardLook(reached=True)}, {})
    drawing = drawing_of((m, look), theme)
    drawing.set_zoom(zoom)

    def paint(painter):
        drawing.paint(painter, QRectF(0, 0, 260, 130), zoom)

    return painted(paint, (260, 130), theme.canvas.name(), zoom) @ GREY


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zoom", ZOOMS)
@pytest.mark.parametrize("shape", [(), (3, 4)])
def test_no_two_states_of_a_card_look_alike_without_colour(theme, kind, zoom, shape):
    states = [state for state in STATES if shape == () or state != "one"]
    seen = {state: grey(theme, kind, state, zoom, shape) for state in states}
    for a, b in itertools.combinations(states, 2):
        if {a, b} == {"nan", "inf"} and zoom < 1 and (shape or kind == "module"):
            continue  # both are hatched: which of them it is stands in the words, from near
        apart = np.abs(seen[a] - seen[b])
        assert (apart > 12).sum() >= 8, (a, b)
