"""Exercises without end: programs made from templates, of random ops, deeper level by level.

The answers are not made here: the program runs, and autograd's gradients are the answers.
"""

import random
from collections.abc import Callable

from msgspec import Struct

from gradscribe.playback.translation import tr

LEVELS = (
    tr("One op"),
    "A chain",
    tr("Used more than once"),
    tr("Curved functions"),
    tr("Vectors and broadcasting"),
    tr("Matrices"),
    tr("A small network"),
)


class Exercise(Struct, frozen=True):
    """A program, and the name of the leaf whose gradient is asked for."""

    title: str
    source: str
    asked: str


class _Sheet:
    """Lines of a program in the making, with the names of what they make."""

    def __init__(self, random_source: random.Random) -> None:
        self.pick = random_source
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self._letters = iter("abcdefghkmnpqrsuvwxyz")

    def leaf(self, text: str) -> str:
        name = next(self._letters)
        self.lines.append(f"{name} = param({text})")
        self.leaves.append(name)
        return name

    def number(self) -> str:
        return f"{self.pick.choice((-3, -2, -1, 2, 3, 4, 0.5, 1.5)):.1f}"

    def row(self, count: int) -> str:
        return "[" + ", ".join(self.number() for _ in range(count)) + "]"

    def matrix(self, rows: int, columns: int) -> str:
        return "[" + ", ".join(self.row(columns) for _ in range(rows)) + "]"

    def line(self, text: str) -> str:
        name = next(self._letters)
        self.lines.append(f"{name} = {text}")
        return name


def exercise(level: int, seed: int) -> Exercise:
    """Return an exercise of a level from 1; the same seed gives the same exercise."""
    level = max(1, min(level, len(LEVELS)))
    sheet = _Sheet(random.Random(f"{level}:{seed}"))
    end = _MAKERS[level - 1](sheet)
    asked = sheet.pick.choice(sheet.leaves)
    head = tr(
        "# Level {level}, {lower}. Find the gradient of loss by {asked}.",
        level=level,
        lower=LEVELS[level - 1].lower(),
        asked=asked,
    )
    body = [*sheet.lines, f"loss = {end}", "loss.backward()"]
    title = tr("Exercise {seed}, level {level}", seed=seed, level=level)
    return Exercise(title, "\n".join([head, *body]) + "\n", asked)


def _one_op(sheet: _Sheet) -> str:
    a, b = sheet.leaf(sheet.number()), sheet.leaf(sheet.number())
    return _binary(sheet, a, b)


def _binary(sheet: _Sheet, a: str, b: str) -> str:
    return sheet.pick.choice(
        (
            f"{a} * {b}",
            f"{a} - {b}",
            f"{a}**2 * {b}",
            f"{a} / {b}",
            f"{a} + 3 * {b}",
            f"{a} * {b}**2",
        )
    )


def _unary(sheet: _Sheet, a: str) -> str:
    return sheet.pick.choice((f"{a}**2", f"-{a}", f"2 * {a} + 1", f"{a} / 4", f"1 - {a}"))


def _chain(sheet: _Sheet) -> str:
    a, b = sheet.leaf(sheet.number()), sheet.leaf(sheet.number())
    c = sheet.line(sheet.pick.choice((f"{a} * {b}", f"{a} + {b}", f"{a} - 2 * {b}", f"{a} / {b}")))
    d = sheet.line(_unary(sheet, c))
    return sheet.pick.choice((f"{d}**2", f"3 * {d}", f"{d} * {d}"))


def _reuse(sheet: _Sheet) -> str:
    a, b = sheet.leaf(sheet.number()), sheet.leaf(sheet.number())
    c = sheet.line(sheet.pick.choice((f"{a} * {b}", f"{a} + {b}", f"{a} - 2 * {b}", f"{a} / {b}")))
    d = sheet.line(sheet.pick.choice((f"{c} * {a}", f"{c} + {a}**2", f"2 * {c} - {a} * {b}")))
    return sheet.pick.choice((f"{d} * {c}", f"{d}**2 + {b}", f"{d} - 2 * {c}"))


def _curved(sheet: _Sheet) -> str:
    a, b = sheet.leaf(sheet.number()), sheet.leaf(sheet.number())
    c = sheet.line(f"{a} * {b}")
    curve = sheet.pick.choice(
        (
            "torch.tanh({})",
            "torch.sigmoid({})",
            "torch.sin({})",
            "torch.cos({})",
            "torch.log({}**2 + 1)",
            "torch.sqrt({}**2 + 1)",
            "torch.exp(-({}**2) / 8)",
        )
    )
    d = sheet.line(curve.format(c))
    return sheet.pick.choice((f"{d}**2", f"{d} * {a}", f"{d} + {c}", f"3 * {d}"))


def _vectors(sheet: _Sheet) -> str:
    a, b = sheet.leaf(sheet.row(3)), sheet.leaf(sheet.number())
    c = sheet.line(sheet.pick.choice((f"{a} * {b}", f"{a} + {b}", f"{b} - {a}")))
    d = sheet.line(sheet.pick.choice((f"{c}**2", f"{c} * {a}", f"torch.relu({c}) + {c}")))
    return sheet.pick.choice((f"{d}.sum()", f"{d}.mean()", f"({d} * {c}).sum()"))


def _matrices(sheet: _Sheet) -> str:
    x = sheet.line(f"torch.tensor({sheet.matrix(2, 3)})")
    w, b = sheet.leaf(sheet.matrix(3, 2)), sheet.leaf(sheet.row(2))
    y = sheet.line(f"{x} @ {w} + {b}")
    z = sheet.line(sheet.pick.choice((f"{y}**2", f"torch.relu({y}) + {y}", f"{y} * 0.5")))
    return sheet.pick.choice((f"{z}.sum()", f"{z}.mean()"))


def _network(sheet: _Sheet) -> str:
    x = sheet.line(f"torch.tensor({sheet.matrix(2, 2)})")
    w, b = sheet.leaf(sheet.matrix(2, 2)), sheet.leaf(sheet.row(2))
    y = sheet.line(f"{x} @ {w} + {b}")
    h = sheet.line(
        sheet.pick.choice((f"torch.tanh({y} / 4)", f"torch.sigmoid({y} / 4)", f"{y}**2 / 8"))
    )
    v = sheet.leaf(sheet.matrix(2, 1))
    out = sheet.line(f"{h} @ {v}")
    t = sheet.line(f"torch.tensor({sheet.matrix(2, 1)})")
    return sheet.pick.choice((f"(({out} - {t})**2).mean()", f"F.mse_loss({out}, {t})"))


_MAKERS: tuple[Callable[[_Sheet], str], ...] = (
    _one_op,
    _chain,
    _reuse,
    _curved,
    _vectors,
    _matrices,
    _network,
)
