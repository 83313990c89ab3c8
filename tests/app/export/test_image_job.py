"""Pictures and tapes on their way into files: whole, or not there at all."""

import json
import threading

import pytest
from PySide6.QtGui import QImage

from gradscribe.app.export import image_job
from gradscribe.app.export.image_job import (
    CopyJob,
    FileJob,
    PictureJob,
    count_steps,
    job_for,
    run_in_thread,
)
from gradscribe.app.export.queue import WAITING
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Tape
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.snapshot import GraphSnapshot
from tests.widgets.pixels import drawing_of
from tests.widgets.scenes import network


@pytest.fixture
def still(qapp):
    return GraphSnapshot(drawing_of(network(), Theme.load("light")))


def waited(steps):
    """Make all steps; between two that wait nothing can be done."""
    return [done for done in steps if done != WAITING]


def test_the_ending_says_what_is_made(still, tmp_path):
    for kind, start in (
        ("png", b"\x89PNG"),
        ("svg", b"<?xml"),
        ("dot", b"digraph"),
        ("json", b"{"),
    ):
        path = tmp_path / f"graph.{kind}"
        waited(job_for(path, still, Tape()).steps())
        assert path.read_bytes().startswith(start)
    assert isinstance(json.loads((tmp_path / "graph.json").read_text()), dict)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_share_grows_to_the_end_and_the_file_is_there_only_then(still, tmp_path, kind):
    made = PictureJob(tmp_path / f"graph.{kind}", still)
    done = []
    for count in made.steps():
        if count != WAITING:
            assert not made.path.exists()
            done.append(count)
    assert done == sorted(done)
    assert len(made) / 2 < done[-1] <= len(made)
    assert made.path.exists()


def test_a_png_is_the_image_that_the_view_has(still, tmp_path):
    path = tmp_path / "graph.png"
    waited(PictureJob(path, still).steps())
    image = run_to_end(still.image())
    kind = QImage.Format.Format_RGB888
    assert QImage(str(path)).convertToFormat(kind) == image.convertToFormat(kind)


def test_what_cannot_be_written_is_told_before_anything_is_painted(still, tmp_path):
    with pytest.raises(Refused, match="its folder does not exist"):
        job_for(tmp_path / "gone" / "graph.svg", still, Tape())


def test_a_fault_in_the_thread_is_told_as_such(tmp_path):
    def fails():
        raise MemoryError

    with pytest.raises(MemoryError):
        waited(FileJob(tmp_path / "a.json", fails).steps())
    assert list(tmp_path.iterdir()) == []


def test_given_up_while_it_is_made_it_is_not_written(tmp_path):
    begun, go = threading.Event(), threading.Event()

    def make():
        begun.set()
        go.wait()
        return b"late"

    made = FileJob(tmp_path / "a.json", make)
    steps = made.steps()
    assert next(steps) == WAITING
    begun.wait()
    assert made.try_cancel()
    steps.close()
    go.set()
    joined()
    assert list(tmp_path.iterdir()) == []


def test_once_it_is_being_written_it_is_too_late_to_give_up(tmp_path, monkeypatch):
    begun, go = threading.Event(), threading.Event()
    write = documents.write_bytes

    def slowly(path, data):
        begun.set()
        go.wait()
        write(path, data)

    monkeypatch.setattr(image_job.documents, "write_bytes", slowly)
    made = FileJob(tmp_path / "a.json", lambda: b"whole")
    steps = made.steps()
    next(steps)
    begun.wait()
    assert not made.try_cancel()
    go.set()
    waited(steps)
    joined()
    assert made.path.read_bytes() == b"whole"


def joined():
    """Wait for the threads of exports."""
    for thread in threading.enumerate():
        if thread.name.startswith("export"):
            thread.join()


def test_what_is_aside_comes_back(qapp):
    assert run_to_end(run_in_thread(lambda: 7)) == 7


def test_steps_are_counted_up_to_what_was_foreseen():
    def three():
        yield
        yield
        yield
        return "made"

    steps = count_steps(three(), 2)
    assert [next(steps) for _ in range(3)] == [1, 2, 2]
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == "made"


def test_the_clipboard_gets_the_image_at_the_end(still, qapp):
    qapp.clipboard().clear()
    steps = CopyJob(still).steps()
    next(steps)
    assert qapp.clipboard().image().isNull()
    waited(steps)
    assert qapp.clipboard().image().size() == (still.size * 2).toSize()
    qapp.clipboard().clear()
