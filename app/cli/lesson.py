"""``gradscribe lesson FILE``: open a lesson in the window, or draw the window with it."""

import argparse
import sys

from gradscribe.app.cli.lessons import TRUST_HELP
from gradscribe.app.cli.options import add_trust
from gradscribe.app.cli.window_args import has_screen
from gradscribe.app.files.documents import Refused
from gradscribe.app.lessons import catalogue


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Open a lesson in the window."
    parser.add_argument("lesson", metavar="FILE", help="a lesson's file, or a built-in one's name")
    parser.add_argument("--step", type=int, metavar="N", help="begin at this step, counted from 1")
    parser.add_argument("--screenshot", metavar="OUT.png", help="draw the window and exit")
    add_trust(parser, TRUST_HELP)


def run(options: argparse.Namespace) -> int:
    """Open a lesson in the window, or draw the window with it; return the exit code."""
    from gradscribe.app.runtime.language import use_language

    use_language()
    if options.screenshot is None and not has_screen():
        raise Refused("no display here; --screenshot OUT.png does without one")
    lesson = catalogue.find(options.lesson)
    step = None if options.step is None else options.step - 1
    if step is not None and not 0 <= step < len(lesson.steps):
        raise Refused(f"{lesson.title} has steps 1 to {len(lesson.steps)}")
    if options.screenshot is not None:
        from gradscribe.app.cli.screenshot import screenshot

        return screenshot(options.screenshot, lesson=lesson, step=step, trusted=options.trust)
    from gradscribe.app.commands.learn import open_lesson
    from gradscribe.app.window.startup import open_window

    return open_window(
        argv=[sys.argv[0]],
        begin=lambda window: open_lesson(window.context, lesson, step, trusted=options.trust),
    )
