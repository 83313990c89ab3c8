"""Parser of lesson files.

The file begins with a head in TOML between two lines ``+++``. Each ``## `` heading begins a step.
Below it are its text and fenced blocks: ``python`` (the program; ``python add``: lines to append;
``python solution``), ``diff`` (lines of the program to remove and to add), ``look``, ``ask``,
``task`` (all three TOML) and ``holds``.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from gradscribe.playback.lessons.duration import estimate_minutes
from gradscribe.playback.lessons.lesson import (
    MAX_CHOICES,
    MAX_MISTAKES,
    Kind,
    Lesson,
    LessonStep,
    LessonSummary,
    Question,
    Task,
    WrongAnswer,
)

TABLES = ("values", "lines", "ledger", "output")
"""Valid values of ``open`` in a ``look`` block."""
FENCE = "```"
LONGEST, MOST_STEPS = 1 << 18, 200
"""Most characters and steps of a lesson: untrusted files are parsed in the GUI thread."""
LONGEST_PROGRAM = 1 << 16
MAX_KEY_DOTS = 100
"""Most dots before an equals sign: each is a nested table."""
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


_Text = Annotated[str, Meta(min_length=1)]
_T = TypeVar("_T", bound=Struct)
_PLAINER = (
    ("Expected", "must be"),
    (", got ", ", not "),
    ("Invalid enum value", "must be number, shape or word, not"),
    ("Number out", "is out"),
)
"""Words of msgspec's errors, and those in a lesson's."""


class _Head(Struct):
    title: _Text
    about: _Text
    part: _Text
    covers: list[object] = []


class _Look(Struct):
    at: str = ""
    select: str = ""
    open: str | None = None


class _Ask(Struct):
    question: str
    answer: str | None = None
    choices: list[tuple[str, str]] | None = None
    kind: Kind | None = None
    tolerance: Annotated[float, Meta(ge=0)] = 0.01
    hint: str = ""
    why: str = ""
    play_to: str = "end"
    unseen: bool = False
    mistakes: list[tuple[str, str]] = []


class _TaskBlock(Struct):
    do: str
    goal: str
    hint: str = ""
    why: str = ""


class BadLesson(ValueError):
    """The file is not a valid lesson; ``line`` counts from 1."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        self.line = line


def parse_lesson(filename: str, text: str) -> Lesson:
    """Parse the text of the file ``NN_name.md``.

    Raises:
        BadLesson: the text does not follow the format.
    """
    lines, head, starts = _split(text)
    steps: list[LessonStep] = []
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        steps.append(_StepParser(lines, start, stop, steps[-1].program if steps else "").step())
    covers = tuple(map(str, head.covers))
    return Lesson(_name(filename), head.title, head.about, head.part, covers, tuple(steps))


def parse_head(filename: str, text: str) -> LessonSummary:
    """Parse only the head of the file ``NN_name.md``, and count steps and minutes.

    Raises:
        BadLesson: that part of the text does not follow the format.
    """
    lines, head, starts = _split(text)
    return LessonSummary(
        filename,
        _name(filename),
        head.title,
        head.about,
        head.part,
        len(starts),
        estimate_minutes(lines[starts[0] :]),
        tuple(lines[start][3:].strip() for start in starts),
        text,
    )


def _name(filename: str) -> str:
    return re.sub(r"^\d+_", "", filename).removesuffix(".md")


def _split(text: str) -> tuple[list[str], _Head, list[int]]:
    """Return the lines of a lesson, its head, and the indices of its steps' headings."""
    if len(text) > LONGEST:
        raise BadLesson(f"a lesson has {LONGEST:,} characters at most, not {len(text):,}")
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "+++" or "+++" not in [line.strip() for line in lines[1:]]:
        raise BadLesson("a lesson begins with a head between two lines +++")
    end = next(at for at in range(1, len(lines)) if lines[at].strip() == "+++")
    head = _convert(lines[1:end], 2, _Head, "the head")
    starts = _headings(lines, end + 1)
    if not starts:
        raise BadLesson("a lesson needs a step: a line that begins with ## and a blank", end + 1)
    if len(starts) > MOST_STEPS:
        why = f"a lesson has {MOST_STEPS} steps at most, not {len(starts)}"
        raise BadLesson(why, starts[MOST_STEPS] + 1)
    return lines, head, starts


def _headings(lines: list[str], start: int) -> list[int]:
    """Return the indices of the steps' headings; unclosed blocks are reported first."""
    found: list[int] = []
    opened = 0
    for at in range(start, len(lines)):
        line = lines[at]
        if line.startswith(FENCE):
            if opened and line.rstrip() != FENCE:
                raise BadLesson(f"a block that is not closed before line {at + 1}", opened)
            opened = 0 if opened else at + 1
        elif opened:
            continue
        elif line.lstrip().startswith(FENCE):
            raise BadLesson("the ``` of a block must begin its line", at + 1)
        elif line.startswith("## ") and line[3:].strip():
            found.append(at)
        elif re.match(r"#+(?!\w)", line) or line.startswith("##"):
            raise BadLesson("a step begins with ##, a blank and its title", at + 1)
        elif line.strip() and not found:
            raise BadLesson("text before the first step", at + 1)
    if opened:
        raise BadLesson("a block that is not closed", opened)
    return found


def _toml(body: list[str], line: int) -> dict[str, object]:
    """Parse lines of TOML, the first of which is line ``line`` of the file."""
    for at, text in enumerate(body):
        if text.partition("=")[0].count(".") > MAX_KEY_DOTS:
            raise BadLesson("this is not TOML for a lesson: tables in tables", line + at)
    try:
        return tomllib.loads("\n".join(body))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        at = int(place[1]) if place and place[1] else len(body) + 1 if place else 1
        why = _PLACE.sub("", message)
        raise BadLesson(f"this is not TOML: {why[:1].lower()}{why[1:]}", line + at - 1) from error
    except RecursionError as error:
        raise BadLesson("this is not TOML for a lesson: lists in lists", line) from error
    except ValueError as error:
        # An integer with more digits than Python parses, or an impossible date.
        raise BadLesson(f"this is not TOML for a lesson: {error}", line) from error


def _convert(body: list[str], line: int, kind: type[_T], what: str) -> _T:
    """Return lines of TOML as a ``kind``; ``line`` is the first one's, ``what`` names them."""
    table = _toml(body, line)
    keys = kind.__struct_fields__
    for key in table:
        if key not in keys:
            why = f"{what} has no key {key}, only {', '.join(keys)}"
            raise BadLesson(why, _key_line(body, key, line))
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        why, _, place = str(error).partition(" - at `$.")
        if not place:
            raise BadLesson(f"{what} needs {why.split('`')[1]}", line - 1) from error
        path = place.rstrip("`")
        for words, plainer in _PLAINER:
            why = why.replace(words, plainer)
        at = _key_line(body, path.partition("[")[0], line)
        raise BadLesson(f"{path} in {what} {why}", at) from error


def _key_line(body: list[str], key: str, line: int) -> int:
    """Return the line of the file on which ``key`` is set; ``line`` if it is not found."""
    setting = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
    return line + next((at for at, text in enumerate(body) if setting.match(text)), 0)


class _StepParser:
    """Parser of one step: its text and its blocks."""

    def __init__(self, lines: list[str], start: int, stop: int, program: str) -> None:
        self._line = start + 1
        self._title = lines[start][3:].strip()
        self._program = program
        self._program_line = 0
        self._words: list[str] = []
        self._look = _Look()
        self._look_line = 0
        self._question: Question | None = None
        self._task: Task | None = None
        self._solution, self._solution_line = "", 0
        self._holds: list[tuple[int, str]] = []
        self._taken: set[str] = set()
        at = start + 1
        while at < stop:
            if not lines[at].startswith(FENCE):
                self._words.append(lines[at])
                at += 1
                continue
            end = next(i for i in range(at + 1, stop) if lines[i].rstrip() == FENCE)
            self._take(" ".join(lines[at][3:].split()), lines[at + 1 : end], at + 1)
            at = end + 1

    def _take(self, info: str, body: list[str], line: int) -> None:
        known: dict[str, Callable[[list[str], int], None]] = {
            "python": self._replace,
            "python add": self._add,
            "python solution": self._solve,
            "diff": self._change,
            "look": self._look_at,
            "ask": self._ask,
            "task": self._set_task,
            "holds": self._claim,
        }
        if info not in known:
            what = f"called {info!r}" if info else "without a name after its ```"
            raise BadLesson(f"no block is {what}; there are {', '.join(known)}", line)
        if info in self._taken and info in ("look", "ask", "task", "python solution"):
            raise BadLesson(f"a step has one block {info}", line)
        self._taken.add(info)
        known[info](body, line)

    def _replace(self, body: list[str], line: int) -> None:
        self._program, self._program_line = "\n".join(body) + "\n", line

    def _add(self, body: list[str], line: int) -> None:
        self._program, self._program_line = self._program + "\n".join(body) + "\n", line

    def _solve(self, body: list[str], line: int) -> None:
        self._solution, self._solution_line = "\n".join(body) + "\n", line

    def _change(self, body: list[str], line: int) -> None:
        self._program_line = line
        for old, new in _hunks(body, line):
            # Line breaks at both ends, so that only whole lines match.
            whole, wanted = f"\n{self._program}\n", "\n".join(["", *old, ""])
            spot = whole.find(wanted) if old else -1
            if spot < 0 or whole.find(wanted, spot + 1) >= 0:
                spots = len(re.findall(f"(?={re.escape(wanted)})", whole))
                times = "nowhere" if not spots else f"{spots} times"
                wanted = " ⏎ ".join(old)
                raise BadLesson(
                    f"the program has this {times}: {wanted}"
                    if old
                    else "added lines need an unchanged or a removed line before them",
                    _text_line(body, old[0], line) if old else line,
                )
            put = "\n".join(["", *new, ""])
            self._program = (whole[:spot] + put + whole[spot + len(wanted) :])[1:-1]

    def _look_at(self, body: list[str], line: int) -> None:
        self._look = _convert(body, line + 1, _Look, "a block look")
        self._look_line = line
        if self._look.open not in (None, *TABLES):
            why = f"open is one of {', '.join(TABLES)}"
            raise BadLesson(why, _key_line(body, "open", line + 1))

    def _ask(self, body: list[str], line: int) -> None:
        ask = _convert(body, line + 1, _Ask, "a block ask")
        if (ask.answer is None) == (ask.choices is None):
            raise BadLesson("a block ask needs question, and either answer or choices", line)
        answer, choices = ask.answer or "", tuple(ask.choices or ())
        if ask.choices is not None and not 2 <= len(choices) <= MAX_CHOICES:
            why = f"a question has 2 to {MAX_CHOICES} choices, not {len(choices)}"
            raise BadLesson(why, _key_line(body, "choices", line + 1))
        usual: Kind = "choice" if choices else "shape" if answer.startswith("shape(") else "number"
        kind = ask.kind or usual
        if (kind == "choice") != bool(choices):
            why = "a question with choices has no other kind"
            raise BadLesson(why, _key_line(body, "kind", line + 1))
        if not math.isfinite(ask.tolerance):
            why = "tolerance must be a number from 0 on"
            raise BadLesson(why, _key_line(body, "tolerance", line + 1))
        self._question = Question(
            ask.question,
            kind,
            answer,
            choices,
            ask.tolerance,
            ask.hint,
            ask.why,
            ask.play_to,
            ask.unseen,
            _mistakes(ask, body, line),
            line,
        )

    def _set_task(self, body: list[str], line: int) -> None:
        task = _convert(body, line + 1, _TaskBlock, "a block task")
        self._task = Task(task.do, task.goal, task.hint, task.why, line=line)

    def _claim(self, body: list[str], line: int) -> None:
        self._holds += [
            (line + at, claim.strip()) for at, claim in enumerate(body, 1) if claim.strip()
        ]

    def step(self) -> LessonStep:
        """Return the step."""
        if max(len(self._program), len(self._solution)) > LONGEST_PROGRAM:
            why = f"a program has {LONGEST_PROGRAM:,} characters at most"
            raise BadLesson(why, self._program_line or self._line)
        if self._solution and self._task is None:
            raise BadLesson("a solution without a task", self._solution_line)
        task = self._task
        if task is not None and not self._solution:
            raise BadLesson(
                "a task needs a block python solution, so that it can be checked", task.line
            )
        if task is not None and self._question is not None:
            raise BadLesson("a step asks a question or sets a task, not both", task.line)
        if task is not None:
            task = Task(task.text, task.goal, task.hint, task.why, self._solution, task.line)
        return LessonStep(
            self._title,
            "\n".join(self._words).strip(),
            self._program,
            self._look.at,
            self._look.select,
            self._look.open or "",
            question=self._question,
            task=task,
            holds=tuple(claim for _, claim in self._holds),
            line=self._line,
            program_line=self._program_line,
            look_line=self._look_line,
            holds_lines=tuple(at for at, _ in self._holds),
        )


def _mistakes(ask: _Ask, body: list[str], line: int) -> tuple[WrongAnswer, ...]:
    """Return the mistakes of a question, each with its line; ``line`` is that of the block."""
    begun = _key_line(body, "mistakes", line + 1)
    if ask.mistakes and ask.choices is not None:
        raise BadLesson("a question with choices has no mistakes", begun)
    if len(ask.mistakes) > MAX_MISTAKES:
        why = f"a question has {MAX_MISTAKES} mistakes at most, not {len(ask.mistakes)}"
        raise BadLesson(why, begun)
    found: list[WrongAnswer] = []
    at = begun
    for answer, reply in ask.mistakes:
        spelled = (json.dumps(answer, ensure_ascii=False), f"'{answer}'")
        lines = range(at, line + 1 + len(body))
        at = next((n for n in lines if any(s in body[n - line - 1] for s in spelled)), begun)
        if not answer.strip() or not reply.strip():
            raise BadLesson("a mistake is an expression and a reply, and neither is empty", at)
        found.append(WrongAnswer(answer, reply, at))
    return tuple(found)


def _hunks(body: list[str], line: int) -> list[tuple[list[str], list[str]]]:
    """Return (lines to remove, lines to add) for each run of minus lines and plus lines."""
    found: list[tuple[list[str], list[str]]] = []
    for at, text in enumerate(body, 1):
        if not text.strip():
            continue
        if text[0] not in "-+ ":
            raise BadLesson("a line of a diff begins with -, + or a blank", line + at)
        fresh = not found or (text[0] != "+" and bool(found[-1][1]) and text[0] == "-")
        if fresh:
            found.append(([], []))
        if text[0] in "- ":
            found[-1][0].append(text[1:])
        if text[0] in "+ ":
            found[-1][1].append(text[1:])
    return found


def _text_line(body: list[str], text: str, line: int) -> int:
    return line + next((at for at, candidate in enumerate(body, 1) if candidate[1:] == text), 0)
