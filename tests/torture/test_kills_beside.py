"""The engine, or the process that paints for it, killed while something else goes on beside it."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from PIL import Image

from gradscribe.app.commands import compare
from gradscribe.app.compare import progress_card
from gradscribe.app.compare.controller import CompareCard
from gradscribe.app.export.film_job import FilmJob
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons.controller import DIED
from gradscribe.app.link.client import Link
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_store import SessionStore
from gradscribe.app.training.session.engine_restart import RunRestorer
from gradscribe.app.training.session.link import TrainLink
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.window.window import Window
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages
from gradscribe.playback.lessons.parse import parse_lesson
from tests.app import films
from tests.torture.test_training_kills import SETUP

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process's children"),
    pytest.mark.timeout(900),
]
PATIENCE_MS = 240_000
WISHES = (messages.ViewRequest("weights"), messages.ViewRequest("gradients"))
LESSON = parse_lesson(
    "01_long.md",
    """+++
title = "Long"
about = "It takes a while"
part = "Autograd"
covers = ["A6"]
+++

## Guess

Words.

```python
for i in range(20_000_000):
    pass
d = torch.ones(1, 3, 2)
```

```ask
question = "What is the shape?"
answer = "shape(d)"
unseen = true
```
""",
)
LONG = "x = param(1.0)\ny = x\nfor i in range(900):\n    y = y * 1.001\nz = y + {}\nz.backward()\n"


class Room:
    """A training room without its widgets."""

    def __init__(self, qtbot):
        self.link = TrainLink(None)
        self.session = TrainSession(self.link)
        self.restorer = RunRestorer(self.session, self.link, self.session)
        self.writing = FileWriter(self.session)
        self.saving = SessionStore(self.session, self.link, self.writing)
        self.saving.resumed.connect(self.restorer.expect)
        self.views, self.wait = [], lambda until: qtbot.waitUntil(until, timeout=PATIENCE_MS)
        self.link.received.connect(self._note)
        self.session.store.setup = SETUP
        self.session.controller.watch(WISHES)
        self.session.controller.begin()
        self.wait(lambda: self.session.run.state is not None)

    def _note(self, message):
        if isinstance(message, messages.ViewReply):
            self.views.append((message.kind, message.step))

    def painters(self):
        pid = self.link.pid()
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(one) for task in tasks for one in task.read_text().split()]

    def sees_on(self):
        """Wait for a view of each kind that is newer than all that is known."""
        step = self.session.run.step
        self.views.clear()
        newer = lambda: {kind for kind, at in self.views if at > step}  # noqa: E731
        self.wait(lambda: newer() == {wish.kind for wish in WISHES})

    def close(self):
        self.writing.finish()
        self.saving.close()
        self.restorer.close()
        self.session.close()
        self.link.deleteLater()


@pytest.fixture
def room(qtbot):
    made = Room(qtbot)
    yield made
    made.close()


def test_without_its_painter_the_trainer_makes_the_views(room):
    room.session.controller.play()
    room.sees_on()
    engine, (painter,) = room.link.pid(), room.painters()
    os.kill(painter, signal.SIGKILL)
    room.sees_on()
    room.sees_on()
    assert (room.link.pid(), room.session.run.alive) == (engine, True)


def test_an_engine_killed_while_views_are_made_takes_its_painter_along(room):
    room.session.controller.play()
    room.sees_on()
    room.wait(lambda: room.restorer.saved_run(room.session.run.run_id) is not None)
    engine, (painter,) = room.link.pid(), room.painters()
    os.kill(engine, signal.SIGKILL)
    room.wait(lambda: not Path(f"/proc/{painter}").exists())
    room.wait(lambda: room.link.pid() not in (0, engine))
    room.wait(lambda: room.session.run.alive and room.session.run.state.status == "paused")
    room.session.controller.play()
    room.sees_on()


def test_an_engine_killed_while_a_session_is_read_goes_on_with_that(room, tmp_path, monkeypatch):
    path, fetched = tmp_path / "a.gradscribe", []
    room.session.controller.advance(40)
    room.wait(lambda: room.session.run.step == 40 and room.session.run.curve("loss").last == 40)
    room.saving.save(path)
    room.wait(path.exists)
    losses = room.session.run.curve("loss").numbers().copy()
    begun, go_on, read = threading.Event(), threading.Event(), session_file.read

    def held(file):
        begun.set()
        assert go_on.wait(PATIENCE_MS / 1000)
        return read(file)

    monkeypatch.setattr("gradscribe.app.training.saving.session_reader.MOST_IN_GUI_THREAD", 0)
    monkeypatch.setattr(session_file, "read", held)
    room.saving.files.fetch(path, fetched.append)
    room.wait(begun.is_set)
    engine = room.link.pid()
    os.kill(engine, signal.SIGKILL)
    room.wait(lambda: room.link.pid() != engine)
    go_on.set()
    room.wait(lambda: bool(fetched))
    room.saving.open(fetched[0])
    room.wait(lambda: room.session.run.alive and room.session.run.state is not None)
    assert room.session.run.step == 40
    room.session.controller.rewind(10)
    room.wait(lambda: room.session.run.step == 10)
    room.session.controller.advance(30)
    room.wait(lambda: room.session.run.step == 40 and room.session.run.curve("loss").last == 40)
    assert (room.session.run.curve("loss").numbers() == losses).all()


@pytest.fixture
def shown(qtbot):
    link = Link()
    window = Window(link, Settings(), Drafts(None))
    qtbot.addWidget(window)
    window.painted.connect(link.start)
    window.open_first()
    window.show()
    qtbot.waitUntil(lambda: not window.session.result.stale, timeout=PATIENCE_MS)
    yield window, link
    window.close()


def test_a_comparison_outlives_the_engine_while_it_is_made_and_while_it_plays(
    shown, qtbot, monkeypatch
):
    window, link = shown
    wait = lambda until: qtbot.waitUntil(until, timeout=PATIENCE_MS)  # noqa: E731

    def run(source):
        window.session.edit_live(source)
        wait(lambda: not window.session.result.stale and window.session.result.source == source)

    def killed():
        was = link.pid()
        os.kill(was, signal.SIGKILL)
        wait(lambda: link.is_ready() and link.pid() != was)

    begun, go_on = threading.Event(), threading.Event()

    class Held(progress_card.Comparison):
        def __init__(self, left, right, told):
            begun.set()
            assert go_on.wait(PATIENCE_MS / 1000)
            super().__init__(left, right, told)

    monkeypatch.setattr(progress_card, "Comparison", Held)
    run(LONG.format(1))
    compare.keep(window.context)
    run(LONG.format(2))
    compare.show(window.context)
    wait(begun.is_set)
    killed()
    go_on.set()
    wait(lambda: bool(window.findChildren(CompareCard)))
    (card,) = window.findChildren(CompareCard)
    for position in (0, card.slider.maximum() // 2, card.slider.maximum()):
        card.slider.setValue(position)
        killed()
    assert card.isVisible()
    assert card.compared.differences
    card.leave()
    run("print(6 * 7)\n")
    assert window.session.result.tape.stdout == "42\n"


def test_an_answer_is_judged_though_the_engine_dies_while_it_runs_the_program(shown, qtbot):
    window, link = shown
    learning = window.context.lessons
    learning.open(LESSON)
    idle = lambda: not window.session.result.stale and not window.session.result.run_id  # noqa: E731
    qtbot.waitUntil(idle, timeout=PATIENCE_MS)
    was = link.pid()

    def kill(message):
        if isinstance(message, protocol_messages.Started) and link.pid() == was:
            os.kill(was, signal.SIGKILL)

    link.received.connect(kill)
    learning.answer("1, 3, 2")
    assert learning._answer is not None
    qtbot.waitUntil(lambda: link.is_ready() and link.pid() != was, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: DIED in learning.page().verdict, timeout=PATIENCE_MS)
    assert learning._answer is not None
    window.menus.perform_by("run.now")
    qtbot.waitUntil(lambda: learning._answer is None, timeout=PATIENCE_MS)
    assert learning.page().mood == "good"


def test_a_film_is_made_to_its_end_though_the_engine_dies(shown, qtbot, tmp_path):
    (window, link), path = shown, tmp_path / "film.gif"
    window.export_queue.begin(FilmJob(path, films.tape(), films.style()))
    was = link.pid()
    os.kill(was, signal.SIGKILL)
    qtbot.waitUntil(lambda: link.is_ready() and link.pid() != was, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not window.export_queue.busy, timeout=PATIENCE_MS)
    with Image.open(path) as film:
        assert film.n_frames > 1
        film.seek(film.n_frames - 1)
    assert list(tmp_path.iterdir()) == [path]
