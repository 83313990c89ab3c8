"""A small recorded tape, and what is needed to film it."""

from functools import cache

from engine.run import record
from widgets.graph_film import Style
from widgets.theme import Theme

SOURCE = "a = param(2.0)\nb = param(-3.0)\nc = a * b\nd = c + a\nd.backward()\n"


@cache
def tape():
    return record(SOURCE)


def style(theme="light", **rest):
    return Style(Theme.load(theme), **rest)
