"""Stand-ins for the engine: a link that answers when it is told to, and tapes made by hand."""

import tempfile
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradscribe.engine.doctor.fix_trial import outcome_of
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Event, Place, Problem, Snapshot, Tape, Value


class FakeLink(QObject):
    """Notes what it was asked and sends only what a test tells it to."""

    ready = Signal(object)
    received = Signal(object)
    died = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.runs = []
        self.asked = []
        self.limits = []
        self.stops = 0
        self.closed = False
        self.started = 0
        self.companions = []

    def start(self) -> None:
        self.started += 1

    def run(self, source, *, seed=0, device="cpu", **limits):
        self.runs.append((source, seed, device))
        self.limits.append(limits)
        return len(self.runs)

    def stop(self) -> None:
        self.stops += 1

    def check(self, run_id, value, index=0) -> None:
        self.asked.append(("check", run_id, value, index))

    def gradcheck(self, run_id, op) -> None:
        self.asked.append(("gradcheck", run_id, op))

    def measure_costs(self, run_id, kind) -> None:
        self.asked.append(("costs", run_id, kind))

    def check_by_hand(self, request) -> None:
        self.asked.append(request)

    def model_file(self, request) -> None:
        self.asked.append(request)

    def peek(self, run_id, snapshot, limit=0) -> None:
        self.asked.append(("peek", run_id, snapshot))

    def read_region(self, request) -> None:
        self.asked.append(request)

    def probe(self, source, policy=False) -> int:
        self.asked.append(("probe", 1000 + len(self.asked), source))
        self.guarded = policy
        return self.asked[-1][1]

    def give_spare(self, to) -> None:
        return None

    def companion(self, parent):
        self.companions.append(FakeLink())
        return self.companions[-1]

    def language(self, parent):
        return FakeLanguage(parent)

    def close(self) -> None:
        self.closed = True

    # What a test does

    @property
    def sources(self):
        return [source for source, _, _ in self.runs]

    def greet(self, devices=("cpu",)) -> None:
        self.ready.emit(messages.Ready(torch="2.13.0", python="3.11", devices=devices, pid=1))

    def answer(self, tape, run_id=None, seconds=0.01) -> None:
        self.received.emit(messages.Recorded(run_id or len(self.runs), tape, seconds))

    def draft(self, tape, run_id=None) -> None:
        reply = messages.Recorded(run_id or len(self.runs), tape, 0.0, is_draft=True)
        self.received.emit(reply)

    def answer_trial(self, record) -> str:
        """Run the last program as the second engine does; return its text."""
        source = self.sources[-1]
        tape, run_id = record(source), len(self.runs)
        end = Tape(tape.status, tape.error, findings=tape.findings)
        reply = messages.Recorded(run_id, end, 0.01, outcome=outcome_of(tape, source))
        self.received.emit(reply)
        return source

    def print(self, text, run_id=None) -> None:
        self.received.emit(messages.Printed(run_id or len(self.runs), text))

    def die(self, why="the engine ended with signal 9") -> None:
        self.died.emit(why)


class FakeLanguage(QObject):
    """A language process that answers only what a test says."""

    received = Signal(object)
    ready_changed = Signal(bool)

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.asked, self.folder, self.started, self.closed = [], "", 0, False

    def start(self) -> None:
        self.started += 1

    def set_place(self, folder, interpreter=None) -> None:
        self.folder = folder

    def ask(self, request) -> None:
        self.asked.append(request)

    def close(self) -> None:
        self.closed = True


class FakeDialogs:
    """Ask nobody: they answer with what the test left in `answers`."""

    def __init__(self) -> None:
        self.answers = {}

    def ask_open(self, title, pattern):
        return self.answers.get("open")

    def ask_save(self, title, name, pattern):
        return self.answers.get("save")

    def ask_folder(self, title):
        return self.answers.get("folder")

    def suggest(self, name):
        return self.answers.get("folder", Path(tempfile.gettempdir())) / name

    def ask_number(self, title, value):
        return self.answers.get("number")

    def ask_text(self, title, text):
        return self.answers.get("text")

    def ask_machine(self, address):
        return self.answers.get("machine")


def leaves(count: int) -> Tape:
    """A tape on which ``count`` scalar parameters come into being and nothing else."""
    snapshot = Snapshot((), "float32", data=b"\0\0\0\0")
    values = tuple(leaf(index) for index in range(count))
    events = tuple(Event("leaf", index, index + 1) for index in range(count))
    return Tape(values=values, events=events, snapshots=(snapshot,))


def leaf(index: int) -> Value:
    return Value(
        id=index,
        name=f"p{index}",
        shape=(),
        dtype="float32",
        device="cpu",
        requires_grad=True,
        is_leaf=True,
        version=0,
        snapshot=0,
        role="parameter",
        tensor=index,
        storage=index,
        place=Place(index + 1, 0, index + 1, 2),
    )


def broken(status="error", kind="SyntaxError", line=1, events=0) -> Tape:
    """A tape of a program that failed after ``events`` leaves."""
    problem = Problem(type=kind, message="it does not work", place=Place(line, 0, line, 3))
    made = leaves(events)
    return Tape(
        status=status,
        error=problem,
        stdout="before it broke\n",
        values=made.values,
        events=made.events,
        snapshots=made.snapshots,
    )
