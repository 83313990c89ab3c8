"""As much of a window as commands touch, with a training session on a link that one drives."""

from dataclasses import dataclass, field

import pytest

from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.training.saving.session_reader import read_session
from gradscribe.app.training.session.session import TrainSession
from tests.app.training.fakes import FakeTrainLink


@dataclass
class Bench:
    """As much of a command context as the training commands touch."""

    training: TrainSession
    current: str = "training"
    said: list = field(default_factory=list)
    save: object = None
    drawn: list = field(default_factory=list)
    file_writer: FileWriter = field(default_factory=FileWriter)

    def say(self, text):
        self.said.append(text)

    @property
    def workspaces(self):
        return self

    @property
    def dialogs(self):
        return self

    def show_workspace(self, name):
        self.current = name

    def ask_save(self, title, name, pattern):
        assert title
        assert pattern.endswith(")")
        return self.save

    def views(self):
        return ("Loss", "Gradient sizes") if self.current == "training" else ()

    def export_training(self, path, view=""):
        self.drawn.append((path, view) if view else path)


@pytest.fixture
def train_link(qapp):
    return FakeTrainLink()


@pytest.fixture
def bench(train_link):
    session = TrainSession(train_link)
    train_link.greet()
    session.controller.open()
    train_link.begin(1, session.setup)
    train_link.state(1, 250)
    train_link.sent.clear()
    yield Bench(session)
    session.close()


class Trusted:
    """Settings that remember what was trusted."""

    def __init__(self):
        self.marks, self.recent = set(), []

    def is_trusted(self, path, source):
        return (path, source) in self.marks

    def trust(self, path, source):
        self.marks.add((path, source))

    def add_recent(self, path):
        self.recent.append(path)


class Strip:
    """The strip of notices."""

    def __init__(self):
        self.notice = None

    def show_now(self, notice):
        self.notice = notice

    def drop(self, key):
        self.notice = None


class Program:
    """The program's session and its keeper."""

    def __init__(self):
        self.doc = None

    def load(self, doc):
        self.doc = doc

    def stash(self):
        pass


class Saver:
    """Notes what it was asked."""

    def __init__(self):
        self.saved, self.opened, self.files = [], [], self

    def save(self, path, then):
        self.saved.append(path)
        then("class Net: ...")

    def fetch(self, path, then):
        then(read_session(path))

    def open(self, room, foreign=False, curves=()):
        self.opened.append(room)
        self.foreign = foreign


@pytest.fixture
def desk(bench):
    bench.settings, bench.notices, bench.session_store = Trusted(), Strip(), Saver()
    bench.session = bench.recovery = Program()
    return bench
