"""Data of a whole run for a page: plain lists and dicts, bounded in size."""

from msgspec import Struct
from msgspec.structs import replace

from gradscribe.engine.protocol.tape import Finding, Problem, Tape
from gradscribe.playback.code.fix_diff import changed_lines
from gradscribe.playback.code.lines import LineMark, line_marks
from gradscribe.playback.explain import events as explained
from gradscribe.playback.tape import event_text, tempo
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.phases import ACTIVE, phases
from gradscribe.playback.tape.scenes import scenes
from gradscribe.playback.tape.track import segments, value_rows
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.playback.web_page.explanation_data import Explanations
from gradscribe.playback.web_page.interned import Data, Interned, add_change
from gradscribe.playback.web_page.scene_data import Tables, scene_data
from gradscribe.playback.web_page.subjects import Subjects

VERSION = 1
INVITATION = tr("Click a card to look inside")


class PageLimits(Struct, frozen=True):
    """Most of each thing in a page."""

    events: int = 4000
    cards: int = 4000
    """Of all fold states of all scenes together."""
    explained: int = 12_000
    """Explanations of selected cards."""
    numbers: int = 256
    """Elements of a tensor that are written out."""
    letters: int = 300_000
    """Length of all numbers that are written out."""
    rows: int = 100
    """Rows of the table of values."""

    def halved(self) -> "PageLimits":
        """Return half of everything."""
        return PageLimits(*(max(1, getattr(self, name) // 2) for name in self.__struct_fields__))


class RunData:
    """Collects the data of one run, within limits; ``left_out`` says what did not fit."""

    def __init__(self, index: Index, limits: PageLimits) -> None:
        self.index, self.limits = index, limits
        self.explanations = Explanations()
        self.tables = Tables()
        self.subjects = Subjects(index, self.explanations, limits.numbers, limits.letters)
        self.left_out: list[str] = []
        self.stop = self._stop()

    def data(self, source: str, title: str, findings: tuple[Finding, ...]) -> Data:
        """Return everything."""
        tape = self.index.tape
        drawn = self._scenes()
        subjects = self._subjects()
        return {
            "version": VERSION,
            "title": title,
            "about": about(tape),
            "source": source.split("\n"),
            "error": _error(tape.error),
            "output": tape.stdout[:20_000],
            "findings": [_finding(source, finding) for finding in findings],
            "events": self._events(),
            "track": self._track(),
            "scenes": drawn,
            "lines": self._lines(),
            "values": self._values(),
            "explanations": self.explanations.items,
            "texts": self.explanations.texts.items,
            "rows": self.explanations.rows.items,
            "subjects": subjects,
            "numbers": self.subjects.numbers,
            "cards": self.tables.cards.items,
            "readings": self.tables.readings.items,
            "wires": self.tables.wires.items,
            "marks": self.tables.marks.items,
            "timelines": self.tables.timelines.items,
            "routes": self.tables.routes.items,
            "frames": self.tables.frames.items,
            "grids": self.tables.grids.items,
            "leftOut": [translated(tape.truncated)] * bool(tape.truncated) + self.left_out,
        }

    def _stop(self) -> int:
        """Return the last position: whole scenes as far as they fit, else part of the first."""
        total, most = len(self.index.tape.events), self.limits.events
        if total <= most:
            return total
        stops = [scene.stop for scene in scenes(self.index) if scene.stop <= most]
        stop = stops[-1] if stops else most
        self.left_out.append(
            tr(
                "This page shows the first {stop:,} of {total:,} events; the rest did not fit",
                stop=stop,
                total=total,
            )
        )
        return stop

    def _scenes(self) -> list[Data]:
        shown = [scene for scene in scenes(self.index) if scene.start < self.stop]
        shown = shown or list(scenes(self.index)[:1])
        found, closed, left = [], 0, self.limits.cards
        for number, scene in enumerate(shown):
            share = max(1, left // (len(shown) - number))
            stop = min(scene.stop, self.stop)
            made = scene_data(self.index, scene, stop, share, self.tables)
            found.append(made.data)
            closed = max(closed, made.closed)
            left -= made.cards
        if closed:
            modules = ngettext("{count:,} module", "{count:,} modules", closed)
            self.left_out.append(
                tr("{modules} cannot be opened here: their graphs did not fit", modules=modules)
            )
        return found

    def _subjects(self) -> Data:
        found: Data = {}
        left = self.limits.explained
        for key, subject in self.tables.subjects.items():
            positions = self.subjects.positions(subject, self.stop)
            left -= len(positions)
            if left < 0:
                self.left_out.append(tr("Some cards have no explanation here: they did not fit"))
                break
            found[key] = self.subjects.data(subject, positions)
        if self.subjects.is_full:
            self.left_out.append(
                tr("Some tensors are here without their numbers: they did not fit")
            )
        return found

    def _events(self) -> list[list[object]]:
        """Return a row a position, from 0: line, activity, milliseconds, sentence, explanation."""
        index = self.index
        known = phases(index)
        found: list[list[object]] = [[0, "", 0, tr("Start"), self._explanation(0)]]
        for at, event in enumerate(index.tape.events[: self.stop]):
            found.append(
                [
                    event.line,
                    ACTIVE[known[at]],
                    tempo.duration(event.kind, 1.0),
                    event_text.ledger_text(index, at)[:400],
                    self._explanation(at + 1),
                ]
            )
        return found

    def _explanation(self, position: int) -> int:
        found = explained.explain_position(self.index, position)
        title, subtitle = explained.position_titles(self.index, found, position)
        words = found.words.replace(explained.INVITATION, INVITATION)
        if not self.index.tape.events:
            words = ""
        return self.explanations.add(replace(found, words=words), title, subtitle)

    def _track(self) -> list[list[object]]:
        return [
            [part.phase, part.start, min(part.stop, self.stop)]
            for part in segments(self.index)
            if part.start < self.stop
        ]

    def _lines(self) -> Data:
        """Return the marks of the lines: a table, and a timeline a line."""
        marks, times = Interned(), dict[int, list[int]]()
        for position in range(self.stop + 1):
            for line, mark in line_marks(self.index, position).items():
                add_change(times.setdefault(line, []), position, marks.add(_mark(mark)))
            for line in times.keys() - line_marks(self.index, position).keys():
                add_change(times[line], position, marks.add(["", "", "", 0, ""]))
        return {"marks": marks.items, "times": times}

    def _values(self) -> Data:
        """Return the table of values as edits: position, first row, rows removed, rows new."""
        rows, edits = Interned(), []
        shown: list[int] = []
        for position in range(self.stop + 1):
            table = value_rows(self.index, position)[: self.limits.rows]
            now = [rows.add([row.name, row.value, row.gradient, int(row.pending)]) for row in table]
            if now == shown:
                continue
            same = next((n for n, (a, b) in enumerate(zip(now, shown, strict=False)) if a != b), -1)
            same = min(len(now), len(shown)) if same < 0 else same
            tail = 0
            while tail < min(len(now), len(shown)) - same and now[-1 - tail] == shown[-1 - tail]:
                tail += 1
            new = now[same : len(now) - tail]
            edits.append([position, same, len(shown) - tail - same, new])
            shown = now
        return {"rows": rows.items, "edits": edits}


def about(tape: Tape) -> str:
    """Return what a run consists of, in a few words."""
    parts = [ngettext("{count:,} op", "{count:,} ops", len(tape.ops))]
    if tape.executions:
        parts.append(
            ngettext("{count:,} backward node", "{count:,} backward nodes", len(tape.executions))
        )
    parameters = len({value.tensor for value in tape.values if value.role == "parameter"})
    if parameters:
        parts.append(ngettext("{count:,} parameter", "{count:,} parameters", parameters))
    return " · ".join(parts)


def _mark(mark: LineMark) -> list[object]:
    return [mark.name, mark.value, mark.gradient, int(mark.reached), mark.active]


def _error(problem: Problem | None) -> Data | None:
    if problem is None:
        return None
    return {
        "type": problem.type,
        "message": translated(problem.message[:4000]),
        "hint": translated(problem.hint),
        "line": problem.place.line,
    }


def _finding(source: str, finding: Finding) -> Data:
    return {
        "title": translated(finding.title),
        "line": finding.place.line,
        "message": translated(finding.message),
        "why": translated(finding.why),
        "severity": finding.severity,
        "fix": changed_lines(source, finding.fix)[:12] if finding.fix else [],
    }
