"""``gradscribe lessons`` and ``gradscribe lesson``: list, check and open lessons.

Exit codes of the check: 0 all lessons are right, 1 some are not, 2 no lesson could be read, or bad
usage, 3 the engine does not start.
"""

import argparse
import sys
from pathlib import Path

from gradscribe.app.cli.record import ProgramRecorder
from gradscribe.app.cli.terminal import say
from gradscribe.app.files.documents import Refused, read
from gradscribe.app.lessons import catalogue
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.lessons.check import LessonProblem, check_lesson
from gradscribe.playback.lessons.lesson import Lesson
from gradscribe.playback.lessons.parse import BadLesson, parse_lesson
from gradscribe.playback.text import formatting

RIGHT, FLAWED, DIED = 0, 1, 3


def lessons_parser() -> argparse.ArgumentParser:
    """Return the parser of ``gradscribe lessons``."""
    made = argparse.ArgumentParser(
        prog="gradscribe lessons", description="List the lessons, or check that they are right."
    )
    made.add_argument(
        "--check",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="run the lessons in FOLDER (or a file, or the built-in ones) and verify their claims",
    )
    _add_trust(made)
    return made


def lesson_parser() -> argparse.ArgumentParser:
    """Return the parser of ``gradscribe lesson``."""
    made = argparse.ArgumentParser(
        prog="gradscribe lesson", description="Open a lesson in the window."
    )
    made.add_argument("lesson", metavar="FILE", help="a lesson's file, or a built-in one's name")
    made.add_argument("--step", type=int, metavar="N", help="begin at this step, counted from 1")
    made.add_argument("--screenshot", metavar="OUT.png", help="draw the window and exit")
    _add_trust(made)
    return made


def _add_trust(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--trust",
        action="store_true",
        help="let the programs of a lesson from outside do whatever Python can",
    )


def lessons_command(options: argparse.Namespace) -> int:
    """List the lessons, or check them; return the exit code."""
    if options.check is None:
        say(lessons_text(catalogue.load()))
        return RIGHT
    return check_all(options.check, options.trust)


def lessons_text(every: tuple[Lesson, ...]) -> str:
    """Return the lessons part by part, a line each."""
    lines: list[str] = []
    part, width = "", max((len(lesson.name) for lesson in every), default=0)
    for number, lesson in enumerate(every, 1):
        if lesson.part != part:
            lines += ["", lesson.part] if part else [lesson.part]
            part = lesson.part
        lines.append(f"  {number:2}  {lesson.name:{width}}  {lesson.title}")
    return "\n".join(lines) + "\n"


def check_all(folder: str, trust: bool = False) -> int:
    """Check the lessons in a folder (empty: built-in), print the flaws, return the exit code.

    Lessons from outside run under the policy unless ``trust``.
    """
    sources = _sources(folder)
    wrong = 0
    with ProgramRecorder(is_open=trust) as recorder:
        for name, source in sources:
            flaws, steps = _flaws(name, source, recorder, policy=bool(folder) and not trust)
            if recorder.problem:
                sys.stderr.write(f"gradscribe: {recorder.problem}\n")
                return DIED
            wrong += bool(flaws)
            for flaw in sorted(flaws, key=lambda flaw: flaw.line):
                say(f"{name}, line {flaw.line}: {flaw.why}\n")
            if not flaws:
                say(f"{name}: {formatting.count(steps, 'step')}, all as said\n")
    say(f"{len(sources) - wrong} of {len(sources)} lessons are right\n")
    return FLAWED if wrong else RIGHT


def _sources(folder: str) -> list[tuple[str, str | Refused]]:
    """Return name and text (or read error) of each lesson; raise for a single lesson's error."""
    if folder:
        paths = catalogue.files_in(Path(folder))
        return [(path.name, read(path) if len(paths) == 1 else _text(path)) for path in paths]
    return [(entry.name, entry.read_text(encoding="utf-8")) for entry in catalogue.builtin_files()]


def _text(path: Path) -> str | Refused:
    try:
        return read(path)
    except Refused as refusal:
        return refusal


def _flaws(
    name: str, source: str | Refused, recorder: ProgramRecorder, policy: bool
) -> tuple[list[LessonProblem], int]:
    if isinstance(source, Refused):
        return [LessonProblem(1, str(source))], 0
    try:
        lesson = parse_lesson(name, source)
    except BadLesson as error:
        return [LessonProblem(error.line, str(error))], 0

    def run(program: str) -> Tape:
        return recorder.record(program, policy=policy)

    return check_lesson(lesson, run), len(lesson.steps)


def lesson_command(options: argparse.Namespace) -> int:
    """Open a lesson in the window, or draw the window with it; return the exit code."""
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
