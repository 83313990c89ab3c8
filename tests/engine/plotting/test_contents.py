"""The numbers of a figure are those that the program plotted, at the places where it plotted."""

import numpy as np
import pytest

from gradscribe.engine.protocol import check_tape, figures, messages
from gradscribe.engine.run.run import execute
from tests.engine.plotting.programs import HEAD, PROGRAMS


def axes_of(source):
    tape = execute(messages.Run(0, HEAD + source))
    assert tape.error is None
    assert not any(check_tape.find_flaws(tape))
    (figure,) = tape.figures
    return figure.axes


def test_lines_and_points_arrive_to_the_bit():
    x = np.linspace(0, 1, 50)
    source = (
        "x = np.linspace(0, 1, 50)\nplt.plot(x, np.sin(x), label='sine')\nplt.axhline(0.5)\n"
        "plt.scatter(x, x ** 2)\nplt.xlim(2, -1)"
    )
    (axes,) = axes_of(source)
    assert axes.limits[:2] == (2.0, -1.0)
    assert axes.box == pytest.approx((0.125, 0.11, 0.775, 0.77))
    sine, square = axes.lines
    assert (sine.name, sine.x, sine.y) == ("sine", x.tobytes(), np.sin(x).tobytes())
    assert (square.name, square.y) == ("", (x**2).tobytes())


def test_scales_are_told_and_other_axes_left_out():
    (axes,) = axes_of("plt.semilogy([1, 10, 100])")
    assert axes.is_log == (False, True)
    for kind in ("polar", "3d"):
        assert axes_of(f"plt.subplot(projection='{kind}').plot([1, 2], [1, 2])") == ()
    assert axes_of("plt.plot([1])\nplt.yscale('symlog')") == ()


def test_many_points_are_left_out_and_told():
    (axes,) = axes_of("plt.plot(np.arange(15_000))\nplt.plot(np.arange(15_000))")
    assert (len(axes.lines), axes.is_cut) == (1, True)


def test_every_program_of_a_tutorial_has_plain_numbers():
    for source in PROGRAMS.values():
        tape = execute(messages.Run(0, HEAD + source))
        assert figures.are_bounded(tape.figures)


LINE, WHOLE, UNIT = figures.FigureLine, (0, 0, 1, 1), (0, 1, 0, 1)


@pytest.mark.parametrize(
    "axes",
    [
        figures.FigureAxes((0, 0, 0, 1), (0, 1, 0, 1)),
        figures.FigureAxes((0, 0, 1, 1), (0, 0, 0, 1)),
        figures.FigureAxes((0, 0, 1, 1), (0, float("nan"), 0, 1)),
        figures.FigureAxes((0, 0, 1, 1), (0, 1, 0, 1), (True, False)),
        figures.FigureAxes(WHOLE, UNIT, lines=(LINE("", b"1" * 8, b""),)),
        figures.FigureAxes(WHOLE, UNIT, lines=(LINE("", b"1", b"1"),)),
    ],
)
def test_axes_that_make_no_sense_are_refused(axes):
    figure = figures.Figure(b"<svg", "svg", 1, 1, axes=(axes,))
    assert not figures.are_bounded((figure,))
