"""Options of ``record`` for films: size, speed, part of the tape, the program next to the graph."""

import argparse
import math

from gradscribe.app.export import film_options
from gradscribe.app.export.film_options import MAX_SPEED, MIN_SPEED, FilmOptions
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.loops.steps import steps_of

OPTIONS = ("size", "speed", "events", "steps", "code")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of films."""
    group = parser.add_argument_group("films", "for --gif and --mp4")
    group.add_argument(
        "--size", metavar="WxH", help="pixels of a frame, such as 1280x720; fit is the graph's size"
    )
    group.add_argument("--speed", type=float, metavar="X", help="0.25 to 8 (1)")
    part = group.add_mutually_exclusive_group()
    part.add_argument("--events", metavar="A-B", help="only from position A to B, in events")
    part.add_argument("--steps", metavar="A-B", help="only the steps A to B of the loop")
    group.add_argument(
        "--code", action="store_true", default=None, help="show the program next to the graph"
    )


def wanted(options: argparse.Namespace) -> bool:
    """Return whether a film is to be written."""
    return options.gif is not None or options.mp4 is not None


def check(options: argparse.Namespace) -> None:
    """Check what can be checked before the script runs.

    Raises:
        Refused: an option is wrong or without a film, or films of a kind cannot be written.
    """
    for name in OPTIONS:
        if getattr(options, name) is not None and not wanted(options):
            raise Refused(f"--{name} goes with --gif or --mp4")
    if options.size is not None:
        film_options.parse_size(options.size)
    speed = 1.0 if options.speed is None else options.speed
    if not (math.isfinite(speed) and MIN_SPEED <= speed <= MAX_SPEED):
        raise Refused(f"--speed is {MIN_SPEED:g} to {MAX_SPEED:g}, not {speed:g}")
    for text in (options.events, options.steps):
        if text is not None:
            first, last = film_options.parse_range(text)
            if first is not None and last is not None:
                noun = "event" if options.steps is None else "step"
                film_options.check_order(first, last, noun)
    if options.mp4 is not None:
        from gradscribe.app.export.encoders import check_available

        check_available("mp4")


def read(options: argparse.Namespace, tape: Tape) -> FilmOptions:
    """Return the choices for a film of ``tape``.

    Raises:
        Refused: the tape does not have the chosen part.
    """
    first, stop = 0, len(tape.events)
    if options.steps is not None:
        steps = steps_of(tape)
        low, high = film_options.parse_range(options.steps)
        first, stop = film_options.step_span(
            steps, 1 if low is None else low, len(steps) if high is None else high
        )
    elif options.events is not None:
        low, high = film_options.parse_range(options.events)
        first, stop = low or 0, stop if high is None else high
    size = None if options.size is None else film_options.parse_size(options.size)
    speed = 1.0 if options.speed is None else options.speed
    made = FilmOptions(size, speed, first, stop, bool(options.code))
    film_options.span_of(made, len(tape.events))
    return made
