"""The lessons: every file in ``assets/lessons``, in the order of its name."""

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from gradscribe.app.files.documents import Refused, exists, read, resolve
from gradscribe.engine import plugins
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.lessons.lesson import Lesson, LessonSummary
from gradscribe.playback.lessons.parse import BadLesson, parse_head, parse_lesson
from gradscribe.playback.translation import language, tr

T = TypeVar("T")
NAMES = re.compile(r"\d\d_\w+\.md")
SUFFIX = ".md"
"""Suffix of the files with lessons."""


@functools.cache
def load() -> tuple[Lesson, ...]:
    """Return all lessons, the first one first; their files are read once.

    Raises:
        BadLesson: a file does not follow the format.
    """
    return tuple(builtin(entry.name) for entry in builtin_files())


@functools.cache
def summaries() -> tuple[LessonSummary, ...]:
    """Return the heads of all lessons, in order, without parsing their steps.

    Raises:
        BadLesson: a file does not follow the format.
    """
    return (
        *(_parsed(_folder(), entry.name, parse_head) for entry in builtin_files()),
        *_plugin_summaries(),
    )


@functools.cache
def builtin(name: str) -> Lesson:
    """Return the built-in lesson in the file of that name, which is read once.

    ``package:file`` is that of a plug-in.

    Raises:
        BadLesson: the file does not follow the format.
    """
    package, _, file = name.rpartition(":")
    folder = resources.files(package) if package else _folder()
    return _parsed(folder, file, lambda _, text: parse_lesson(name, text))


def _folder() -> Traversable:
    return resources.files("gradscribe.assets") / "lessons"


def _parsed(folder: Traversable, name: str, parse: Callable[[str, str], T]) -> T:
    """Return what ``parse`` makes of a lesson, in the language of the window if it is translated.

    The translation of ``16_vectors.md`` is ``16_vectors.zh_CN.md`` next to it. A spoilt one gives
    way to the lesson.
    """
    translation = folder / f"{name.removesuffix(SUFFIX)}.{language()}{SUFFIX}"
    if translation.is_file():
        with suppress(BadLesson, OSError, UnicodeError):
            return parse(name, translation.read_text(encoding="utf-8"))
    return parse(name, (folder / name).read_text(encoding="utf-8"))


def _plugin_summaries() -> Iterator[LessonSummary]:
    """Yield the heads of the lessons in packages of plug-ins that follow the format."""
    known = {parse_head(e.name, e.read_text(encoding="utf-8")).name for e in builtin_files()}
    for name, package in plugins.entries("lessons", "", ModuleType).items():
        files = (f for f in resources.files(package).iterdir() if NAMES.fullmatch(f.name))
        for entry in sorted(files, key=lambda entry: entry.name):
            try:
                text = entry.read_text(encoding="utf-8")
                parse_lesson(entry.name, text)
                head = parse_head(entry.name, text)
            except (BadLesson, OSError, UnicodeError) as error:
                plugins.leave_out_name("lessons", name, f"{entry.name}: {error}")
                continue
            if head.name in known:
                plugins.leave_out_name(
                    "lessons", name, tr("there is a lesson {name} already", name=head.name)
                )
                continue
            known.add(head.name)
            yield replace(head, file=f"{package.__name__}:{entry.name}")


def builtin_files() -> list[Traversable]:
    """Return the built-in lessons' files, in the order of their names."""
    files = [entry for entry in _folder().iterdir() if NAMES.fullmatch(entry.name)]
    return sorted(files, key=lambda entry: entry.name)


def read_lesson(path: Path) -> Lesson:
    """Return the lesson in a user's file.

    Raises:
        Refused: it cannot be read, or does not follow the format.
    """
    text = read(path, SUFFIX)
    try:
        return replace(parse_lesson(path.name, text), path=str(resolve(path)), text=text)
    except BadLesson as error:
        raise Refused(
            tr("{path}, line {line}: {error}", path=path, line=error.line, error=error)
        ) from error


def find(word: str) -> Lesson:
    """Return the lesson in the file ``word``, else the built-in lesson with that name.

    Raises:
        Refused: neither exists.
    """
    path = Path(word)
    if exists(path):
        return read_lesson(path)
    found = next((one for one in summaries() if one.name == word), None)
    if found is None:
        if path.suffix == ".md" and path.parent.name:
            return read_lesson(path)
        raise Refused(tr("no lesson {word}; gradscribe lessons lists them", word=word))
    return builtin(found.file)


def files_in(folder: Path) -> list[Path]:
    """Return the lessons' files in a folder, in order.

    Raises:
        Refused: there is no such folder, or no lesson in it.
    """
    if os.path.isfile(folder):
        return [folder]
    if not exists(folder):
        raise Refused(tr("{folder} is not there", folder=folder))
    try:
        found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    except OSError as error:
        raise Refused(
            tr("{folder} cannot be read: {value}", folder=folder, value=error.strerror or error)
        ) from error
    if not found:
        raise Refused(tr("{folder} holds no lesson: a lesson's name ends in .md", folder=folder))
    return found
