"""A lesson's file -> the lesson.

The file begins with a head in TOML between two lines ``+++``. Each ``## `` heading begins a step.
What stands below it is its text, and fenced blocks that say what to do with the window: ``python``
(the program; ``python add``: lines to add; ``python solution``), ``diff`` (lines of the program to
take out and to put in), ``look``, ``ask``, ``task`` (all three TOML) and ``holds``.
"""

import re
import tomllib
from collections.abc import Callable, Mapping

from playback.lessons.lesson import Kind, Lesson, Question, Step, Task

HEAD = {"title": str, "about": str, "part": str, "covers": list}
TABLES = ("values", "lines", "ledger", "output")
"""What ``open`` in a ``look`` block may name."""


class BadLesson(ValueError):
    """The file is no lesson; ``line`` (from 1) tells where."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        self.line = line


def parse(filename: str, text: str) -> Lesson:
    """Return the lesson that the file ``NN_name.md`` holds.

    Raises:
        BadLesson: it does not follow the format.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "+++" or "+++" not in [line.strip() for line in lines[1:]]:
        raise BadLesson("a lesson begins with a head between two lines +++")
    end = next(at for at in range(1, len(lines)) if lines[at].strip() == "+++")
    head = _toml("\n".join(lines[1:end]), 2)
    for key, kind in HEAD.items():
        if not isinstance(head.get(key), kind) or not head[key]:
            raise BadLesson(f"the head needs {key}")
    if unknown := sorted(set(head) - set(HEAD)):
        raise BadLesson(f"the head knows no {unknown[0]}")
    starts = _headings(lines, end + 1)
    if not starts:
        raise BadLesson("a lesson needs a step: a line that begins with ##", end + 1)
    steps: list[Step] = []
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        steps.append(_Page(lines, start, stop, steps[-1].program if steps else "").step())
    covers = tuple(str(row) for row in head["covers"])  # type: ignore[attr-defined]
    name = re.sub(r"^\d+_", "", filename).removesuffix(".md")
    return Lesson(
        name, str(head["title"]), str(head["about"]), str(head["part"]), covers, tuple(steps)
    )


def _headings(lines: list[str], start: int) -> list[int]:
    found, inside = [], False
    for at in range(start, len(lines)):
        if lines[at].startswith("```"):
            inside = not inside
        elif lines[at].startswith("## ") and not inside:
            found.append(at)
        elif lines[at].strip() and not found and not inside:
            raise BadLesson("words before the first step", at + 1)
    return found


def _toml(text: str, line: int) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadLesson(f"not TOML: {error}", line) from error


class _Page:
    """One step while it is read: the words, and what its blocks say."""

    def __init__(self, lines: list[str], start: int, stop: int, program: str) -> None:
        self._line = start + 1
        self._title = lines[start][3:].strip()
        self._program = program
        self._words: list[str] = []
        self._look: dict[str, str] = {}
        self._question: Question | None = None
        self._task: Task | None = None
        self._solution = ""
        self._holds: tuple[str, ...] = ()
        at = start + 1
        while at < stop:
            if not lines[at].startswith("```"):
                self._words.append(lines[at])
                at += 1
                continue
            end = next((i for i in range(at + 1, stop) if lines[i].rstrip() == "```"), None)
            if end is None:
                raise BadLesson("a block that is not closed", at + 1)
            self._take(lines[at][3:].strip(), lines[at + 1 : end], at + 1)
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
            raise BadLesson(f"no block is called {info or 'nothing'!r}", line)
        known[info](body, line)

    def _replace(self, body: list[str], _: int) -> None:
        self._program = "\n".join(body) + "\n"

    def _add(self, body: list[str], _: int) -> None:
        self._program += "\n".join(body) + "\n"

    def _solve(self, body: list[str], _: int) -> None:
        self._solution = "\n".join(body) + "\n"

    def _change(self, body: list[str], line: int) -> None:
        for old, new in _hunks(body, line):
            before = self._program.split("\n")
            spots = [i for i in range(len(before)) if before[i : i + len(old)] == old]
            if not old or len(spots) != 1:
                times = "nowhere" if not spots else f"{len(spots)} times"
                raise BadLesson(f"these lines stand {times} in the program: {old}", line)
            before[spots[0] : spots[0] + len(old)] = new
            self._program = "\n".join(before)

    def _look_at(self, body: list[str], line: int) -> None:
        table = _toml("\n".join(body), line + 1)
        look = _fields(table, {"at": str, "select": str, "open": str}, "look", line)
        self._look = {key: str(value) for key, value in look.items()}
        if self._look.get("open", "values") not in TABLES:
            raise BadLesson(f"open is one of {', '.join(TABLES)}", line)

    def _ask(self, body: list[str], line: int) -> None:
        kinds = {
            "question": str,
            "answer": str,
            "choices": list,
            "kind": str,
            "tolerance": float,
            "hint": str,
            "why": str,
            "play_to": str,
            "unseen": bool,
        }
        table = _fields(_toml("\n".join(body), line + 1), kinds, "ask", line)
        if "question" not in table or ("answer" in table) == ("choices" in table):
            raise BadLesson("a question needs a question, and an answer or choices", line)
        text, answer = str(table.pop("question")), str(table.get("answer", ""))
        choices = _choices(table.pop("choices", []), line)
        kind: Kind = "choice" if choices else "shape" if answer.startswith("shape(") else "number"
        if (said := table.pop("kind", kind)) not in ("number", "shape", "word", "choice"):
            raise BadLesson(f"no question is of the kind {said!r}", line)
        kind = said
        self._question = Question(text, kind, choices=choices, **table)  # type: ignore[arg-type]

    def _set_task(self, body: list[str], line: int) -> None:
        kinds = {"do": str, "goal": str, "hint": str, "why": str}
        table = _fields(_toml("\n".join(body), line + 1), kinds, "task", line)
        if "do" not in table or "goal" not in table:
            raise BadLesson("a task needs do and goal", line)
        self._task = Task(str(table.pop("do")), **table)  # type: ignore[arg-type]

    def _claim(self, body: list[str], _: int) -> None:
        self._holds += tuple(line.strip() for line in body if line.strip())

    def step(self) -> Step:
        """Return the step."""
        if self._solution and self._task is None:
            raise BadLesson("a solution without a task", self._line)
        if self._task is not None and not self._solution:
            raise BadLesson("a task needs a solution, so that it can be checked", self._line)
        if self._task is not None and self._question is not None:
            raise BadLesson("a step asks a question or sets a task, not both", self._line)
        task = self._task
        if task is not None:
            task = Task(task.text, task.goal, task.hint, task.why, self._solution)
        return Step(
            self._title,
            "\n".join(self._words).strip(),
            self._program,
            question=self._question,
            task=task,
            holds=self._holds,
            line=self._line,
            **self._look,
        )


def _hunks(body: list[str], line: int) -> list[tuple[list[str], list[str]]]:
    """Return (lines to take out, lines to put in) for each run of minus lines and plus lines."""
    found: list[tuple[list[str], list[str]]] = []
    for text in body:
        if not text.strip():
            continue
        if text[0] not in "-+ ":
            raise BadLesson("a line of a diff begins with -, + or a blank", line)
        fresh = not found or (text[0] != "+" and bool(found[-1][1]) and text[0] == "-")
        if fresh:
            found.append(([], []))
        if text[0] in "- ":
            found[-1][0].append(text[1:])
        if text[0] in "+ ":
            found[-1][1].append(text[1:])
    return found


def _fields(
    table: dict[str, object], kinds: Mapping[str, type], block: str, line: int
) -> dict[str, object]:
    for key, value in table.items():
        if key not in kinds:
            raise BadLesson(f"a block {block} knows no {key}", line)
        kind = kinds[key]
        if kind is float and type(value) is int:
            continue
        if type(value) is not kind:
            raise BadLesson(f"{key} must be a {kind.__name__}", line)
    return table


def _choices(rows: object, line: int) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for row in rows if isinstance(rows, list) else []:
        if not (isinstance(row, list) and len(row) == 2 and all(isinstance(o, str) for o in row)):
            raise BadLesson("a choice is a text and the expression that must hold", line)
        found.append((row[0], row[1]))
    if len(found) == 1:
        raise BadLesson("one choice is no choice", line)
    return tuple(found)
