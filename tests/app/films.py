"""A small recorded tape, and what is needed to film it."""

from functools import cache

from gradscribe.engine.run.run import record
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.film import FilmStyle

SOURCE = "a = param(2.0)\nb = param(-3.0)\nc = a * b\nd = c + a\nd.backward()\n"


@cache
def tape():
    return record(SOURCE)


def style(theme="light", **rest):
    return FilmStyle(Theme.load(theme), **rest)
