"""``gradscribe lessons``: list or check the lessons.

Exit codes of the check: 0 all lessons are right, 1 some are not, 2 no lesson could be read, or bad
usage, 3 the engine does not start.
"""

import argparse
import sys
from pathlib import Path

from gradscribe.app.cli.exit_codes import DIED, FAILED, RAN
from gradscribe.app.cli.options import add_trust
from gradscribe.app.cli.record import ProgramRecorder
from gradscribe.app.cli.terminal import say
from gradscribe.app.files.documents import Refused, read
from gradscribe.app.lessons import catalogue
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.lessons.check import LessonProblem, check_lesson
from gradscribe.playback.lessons.lesson import Lesson
from gradscribe.playback.lessons.parse import BadLesson, parse_lesson
from gradscribe.playback.text import formatting

TRUST_HELP = "let the programs of a lesson from outside do whatever Python can"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "List the lessons, or check that they are right."
    parser.add_argument(
        "--check",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="run the lessons in FOLDER (or a file, or the built-in ones) and verify their claims",
    )
    add_trust(parser, TRUST_HELP)


def run(options: argparse.Namespace) -> int:
    """List the lessons, or check them; return the exit code."""
    if options.check is None:
        say(lessons_text(catalogue.load()))
        return RAN
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
    return FAILED if wrong else RAN


def _sources(folder: str) -> list[tuple[str, str | Refused]]:
    """Return name and text (or read error) of each lesson; raise for a single lesson's error."""
    if folder:
        paths = catalogue.files_in(Path(folder))
        return [
            (path.name, read(path, catalogue.SUFFIX) if len(paths) == 1 else _text(path))
            for path in paths
        ]
    return [(entry.name, entry.read_text(encoding="utf-8")) for entry in catalogue.builtin_files()]


def _text(path: Path) -> str | Refused:
    try:
        return read(path, catalogue.SUFFIX)
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
