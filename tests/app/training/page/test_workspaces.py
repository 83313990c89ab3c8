"""The switch between the rooms, and commands in the training room."""

import errno
import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.commands import train
from gradscribe.app.files import atomic
from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.notice import Notice
from gradscribe.app.ui.examples.gallery import Gallery
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.widgets.base.focus.ring import FocusRing
from gradscribe.widgets.graph.snapshot import png_bytes


@pytest.fixture
def training(window):
    window.workspaces.show_workspace("training")
    assert window.workspaces.widgets
    window.train_link.greet()
    window.train_link.begin(1, window.workspaces.session.setup)
    return window


def test_the_page_takes_the_keys_without_a_ring_around_its_bar(training, qtbot):
    training.show()
    training.activateWindow()
    ring = FocusRing(training)
    training.workspaces.show_workspace("program")
    training.workspaces.show_workspace("training")
    qtbot.waitUntil(training.workspaces.widgets.bar.hasFocus)
    seen = [type(one).__name__ for one in training.findChildren(QWidget) if one.isVisible()]
    assert "_Ring" not in seen
    training.workspaces.widgets.says.tabBar().setFocus(Qt.FocusReason.TabFocusReason)
    assert any(type(one).__name__ == "_Ring" for one in training.findChildren(QWidget))
    ring.deleteLater()


def test_each_open_view_is_exported_alone(training, qtbot, tmp_path):
    room = training.workspaces.widgets
    training.workspaces.draw()  # All of it has its place then.
    views = training.workspaces.views()
    assert views == ("Model output", "Loss", "Gradient sizes", "Graph", "One step")
    for place, choice in enumerate(train.export_view(training.context)):
        training.answers["save"] = tmp_path / f"{place}"
        choice.run(training.context)
        path = tmp_path / f"{place}.png"
        qtbot.waitUntil(lambda path=path: path.exists() and not training.export_queue.busy)
        picture = QImage(str(path))
        assert picture.size() == 2 * room.seen()[choice.title].size()
        ground = training.look.theme().panel.rgb()
        seen = {picture.pixel(x, y) for x in range(picture.width()) for y in range(0, 200, 3)}
        assert ground in seen
        assert len(seen) > 5, choice.title
    titles = set(views)
    for tabs in (room.says, room.below, room.numbers):
        for place in range(tabs.count()):
            tabs.setCurrentIndex(place)
            titles |= set(training.workspaces.views())
    wanted = (
        "Network,Loss surface,Graph,Update of a weight,Runs,Weights,Gradients over time,"
        "Histograms,Optimizer state"
    )
    assert titles == {*views, *wanted.split(",")}
    training.workspaces.widgets.numbers.setCurrentIndex(0)
    with pytest.raises(Refused, match="is not open"):
        training.workspaces.draw("Histograms")
    training.workspaces.show_workspace("program")
    assert not train.export_view(training.context)


def test_nothing_trains_before_the_room_is_entered(window):
    assert window.train_link.sent == []
    assert window.workspaces.current == "program"


def test_entering_the_room_trains(training):
    assert training.train_link.last(messages.Play) is not None
    assert training.workspaces.stack.currentIndex() == 1


def test_the_room_is_made_in_turns_of_the_event_loop(window, qtbot, monkeypatch):
    rooms = window.workspaces
    monkeypatch.setattr(rooms._making, "_turn_ms", 0)
    turns = []
    ticks = QTimer()
    ticks.timeout.connect(lambda: turns.append(rooms.stack.count()))
    ticks.start(0)
    window.workspaces.show_workspace("training")
    assert window.workspaces.current == "training"
    assert rooms.stack.currentIndex() == 0, "nobody waits before there is something to see"
    assert not rooms.is_whole
    qtbot.waitUntil(lambda: rooms.stack.currentIndex() == 1)
    assert rooms.is_whole
    ticks.stop()
    assert len(turns) > 60
    assert rooms.widgets.isVisibleTo(window)


def test_a_room_that_is_never_finished_leaves_no_widget_alone(window):
    alone, steps = set(QApplication.topLevelWidgets()), 0
    for _ in window.workspaces._make():
        steps += 1
        more = [one for one in QApplication.topLevelWidgets() if one not in alone]
        assert [one for one in more if one.parent() is None] == []
    assert steps > 60


def test_who_goes_back_meanwhile_stays_there(window, qtbot):
    rooms = window.workspaces
    window.workspaces.show_workspace("training")
    window.workspaces.show_workspace("program")
    qtbot.waitUntil(lambda: not rooms._making.busy)
    assert (window.workspaces.current, rooms.stack.currentIndex()) == ("program", 0)
    window.workspaces.show_workspace("training")
    assert rooms.stack.currentIndex() == 1


def test_a_room_that_was_prepared_is_there_at_once_and_trains_only_then(window, qtbot):
    rooms = window.workspaces
    rooms.prepare()
    qtbot.waitUntil(lambda: not rooms._making.busy, timeout=30_000)
    assert window.train_link.sent == []
    assert rooms.stack.currentIndex() == 0
    window.workspaces.show_workspace("training")
    assert rooms.stack.currentIndex() == 1
    assert window.train_link.last(messages.Train) is not None


def test_a_room_made_late_shows_what_was_told_before(window):
    window.workspaces.show_workspace("training")
    window.train_link.greet()
    window.train_link.begin(1, window.workspaces.session.setup)
    window.train_link.grow(1, 0, 40)
    window.train_link.state(1, 40)
    window.train_link.received.emit(
        messages.TrainProblem(1, Problem("error", "it is too big"), "batch")
    )
    widgets = window.workspaces.widgets
    assert "step 40" in widgets.bar.accessibleDescription()
    assert len(widgets.loss.curves[0].series) == 39
    assert widgets.form.parts["optimizer"].choice.count() > 1
    assert widgets.form.batches.by_name["batch"].note.said() == "it is too big"
    assert widgets.lines.isEnabled()


def test_the_switch_leads_there_and_back(window, qtbot):
    window.top.switch.buttons["training"].click()
    assert window.workspaces.current == "training"
    window.workspaces.widgets.bar.switch.buttons["program"].click()
    assert window.workspaces.current == "program"
    asked = window.train_link.last(messages.WatchViews)
    assert asked is None or {wish.kind for wish in asked.wishes} <= {"spread"}


def test_space_and_arrows_drive_the_run(training, qtbot):
    training.show()
    bar = training.workspaces.widgets.bar
    sent = training.train_link.sent
    sent.clear()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Right, Qt.Key.Key_N):
        qtbot.keyClick(bar, key)
    asked = [type(one) for one in sent if not isinstance(one, messages.WatchViews)]
    assert asked == [messages.Pause, messages.Advance, messages.StepEvent]


def test_keys_in_the_program_s_room_leave_the_run_alone(training):
    training.workspaces.show_workspace("program")
    sent = len(training.train_link.sent)
    training.menus.perform_by("play.step")
    training.menus.perform_by("train.fork")
    assert len(training.train_link.sent) == sent


def test_undo_takes_back_the_setup_in_the_room(training):
    before = training.workspaces.session.setup
    training.workspaces.session.controller.change(Setup())
    training.menus.perform_by("edit.undo")
    assert training.workspaces.session.setup == before
    training.menus.perform_by("edit.redo")
    assert training.workspaces.session.setup == Setup()


@pytest.mark.parametrize(
    ("command", "request_type"),
    [
        ("train.new_weights", messages.ResetRun),
        ("train.new_data", messages.ResetRun),
        ("train.leap", messages.Advance),
        ("train.fork", messages.Fork),
        ("train.tape", messages.RecordStep),
        ("train.export_script", messages.Export),
    ],
)
def test_commands_ask_the_engine(training, command, request_type):
    training.train_link.state(1, 200)
    training.menus.perform_by(command)
    assert training.train_link.last(request_type) is not None


def test_what_is_exported_is_written_where_one_says(training, tmp_path):
    training.answers["save"] = tmp_path / "run"
    training.menus.perform_by("train.export_script")
    training.train_link.received.emit(messages.Exported(1, "script", b"import torch\n"))
    training.workspaces.writing.finish()
    assert (tmp_path / "run.py").read_bytes() == b"import torch\n"


@pytest.mark.parametrize("kind", ["script", "csv", "exe"])
def test_nobody_is_asked_where_to_write_what_nobody_wanted(training, tmp_path, kind):
    training.answers["save"] = tmp_path / "wanted"
    training.train_link.received.emit(messages.Exported(1, kind, b"x"))
    training.workspaces.writing.finish()
    assert not list(tmp_path.glob("wanted*"))


def test_every_kind_of_export_has_a_name_and_an_ending():
    assert set(train.FILES) == {"script", "ddp", "csv", "safetensors", "pt", "pt2", "onnx"}
    assert all("." in name for name, _pattern in train.FILES.values())


def test_a_file_that_cannot_be_written_is_said(training, tmp_path):
    training.answers["save"] = tmp_path / "nowhere" / "run.py"
    training.menus.perform_by("train.export_script")
    training.train_link.received.emit(messages.Exported(1, "script", b"x"))
    training.workspaces.writing.finish()
    assert "nowhere" in training.status.message.text()


def test_a_picture_of_the_room_is_written_aside(training, tmp_path, qtbot, monkeypatch):
    threads = []

    def noted(image):
        threads.append(threading.current_thread())
        return png_bytes(image)

    monkeypatch.setattr("gradscribe.widgets.graph.snapshot.png_bytes", noted)
    training.answers["save"] = tmp_path / "room"
    training.menus.perform_by("train.export_picture")
    qtbot.waitUntil(lambda: not training.export_queue.busy)
    assert training.status.message.text() == "Wrote room.png"
    assert threading.main_thread() not in threads
    written, seen = QImage(str(tmp_path / "room.png")), training.workspaces.widgets.grab().toImage()
    assert written.size() == seen.size()
    assert written.pixelColor(300, 300) == seen.pixelColor(300, 300)


@pytest.mark.parametrize("is_offered", [True, False])
def test_a_picture_of_the_room_has_every_row_of_its_setup(training, is_offered):
    rooms, catalogue = training.workspaces, training.workspaces.session.store.catalogue
    setup, offering, following = (
        rooms.session.setup,
        rooms.presenter.offering,
        rooms.presenter.following,
    )
    others = [
        one
        for one in catalogue.entries
        if one.kind == "optimizer" and one.name != setup.optimizer.name
    ]
    most = max(others, key=lambda one: len(one.options))
    following._turn_ms = 0  # Else a machine that is quick makes all rows in one turn.
    offering.finish()
    if not is_offered:
        offering.run(rooms.widgets.form.offer(catalogue))
    rooms.session.controller.change(replace(setup, optimizer=Part(most.name)))
    assert following.busy, "the rows come in turns of their own"
    drawn = rooms.draw()
    section = rooms.widgets.form.parts["optimizer"]
    assert tuple(section.by_name) == tuple(option.name for option in most.options)
    assert drawn == rooms.widgets.grab().toImage()


def test_a_picture_of_the_room_that_cannot_be_written_is_said(training, tmp_path, qtbot):
    (tmp_path / "room.png").mkdir()
    training.answers["save"] = tmp_path / "room.png"
    training.menus.perform_by("train.export_picture")
    qtbot.waitUntil(lambda: not training.export_queue.busy)
    assert "room.png" in training.status.message.text()
    assert "Wrote" not in training.status.message.text()


def begin_saving(window, path):
    """Save where the engine tells all at once; what it tells is written beside."""
    window.answers["save"] = path
    window.menus.perform_by("file.save_session")
    window.train_link.received.emit(messages.RunSaved(1, 0, b"\x80"))


def test_closing_waits_for_what_is_on_its_way_to_the_disk(training, tmp_path, monkeypatch):
    gate, whole = threading.Event(), atomic.write
    monkeypatch.setattr(atomic, "write", lambda *a, **k: gate.wait(20) and whole(*a, **k))
    path = tmp_path / "a.gradscribe"
    begin_saving(training, path)
    assert training.workspaces.writing.is_busy
    assert not path.exists()
    threading.Timer(0.05, gate.set).start()
    training.close()
    assert not training.isVisible()
    assert path.exists()


def test_a_window_whose_session_cannot_be_written_stays_once(training, tmp_path, monkeypatch):
    path, before = tmp_path / "a.gradscribe", b"what was there"
    path.write_bytes(before)
    gate = threading.Event()

    def full(*_, **__):
        gate.wait(20)
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(atomic, "write", full)
    begin_saving(training, path)
    gate.set()
    training.show()
    training.close()
    assert training.isVisible()
    assert "a.gradscribe cannot be written: the disk is full" in training.status.message.text()
    assert path.read_bytes() == before
    training.close()
    assert not training.isVisible()


def test_a_window_whose_engine_has_not_told_all_says_so_before_it_closes(training, tmp_path):
    training.answers["save"] = tmp_path / "a.gradscribe"
    training.menus.perform_by("file.save_session")
    training.show()
    training.close()
    assert training.isVisible()
    assert "a.gradscribe is still being saved" in training.status.message.text()
    training.close()
    assert not training.isVisible()


def test_a_step_is_shown_on_the_tape(training, sum_times, link):
    runs = len(link.runs)
    training.train_link.received.emit(messages.StepTape(1, 12, sum_times, "x = 1\n"))
    assert training.workspaces.current == "program"
    assert training.session.result.tape == sum_times
    assert training.editor.source() == "x = 1\n"
    assert training.session.view.position == 0
    assert len(link.runs) == runs
    training.clock.step()
    assert training.session.view.position == 1


@pytest.mark.parametrize("where", ["of the window", "of the engine, that alone has read it"])
def test_a_step_with_a_strange_module_stays_held_to_the_policy(training, sum_times, link, where):
    link.answer(sum_times)
    run = training.workspaces.session.store.find(1)
    options = {"source": "class A(nn.Module): ...", "guarded": True}
    setup = replace(run.setup, model=Part("own", options))
    if where == "of the window":
        run.setup = setup
    else:
        run.begun = replace(run.begun, setup=setup)
    training.train_link.received.emit(messages.StepTape(1, 12, sum_times, "x = 1\n"))
    assert training.session.result.tape == sum_times
    assert training.notices.notice is None
    training.session.edit_live("x = 2\n")
    assert (link.sources[-1], link.limits[-1]["policy"]) == ("x = 2\n", True)


def test_the_rooms_examples_are_set_ups_that_train_at_once(training, qtbot):
    training.workspaces.widgets.bar.examples.click()
    gallery = training.findChild(Gallery)
    qtbot.waitUntil(lambda: not gallery.filling.busy)
    tile = next(one for one in gallery.tiles if one.accessibleName() == "Playground: circle")
    tile.click()
    qtbot.waitUntil(lambda: not training.findChildren(Gallery))
    asked = training.train_link.last(messages.Train)
    assert asked.setup.data.name == "circle"
    assert training.workspaces.session.controller.plays
    training.menus.perform_by("edit.undo")
    assert training.workspaces.session.setup.data.name != "circle"


def test_what_the_window_has_to_say_is_seen_in_either_room(training):
    strip = training.notices
    training.notices.post(Notice("x", "The text cannot be kept"))
    assert strip.isVisibleTo(training)
    assert strip.parent() is training.workspaces.widgets
    training.workspaces.show_workspace("program")
    assert strip.isVisibleTo(training)
    training.notices.drop("x")
    training.workspaces.show_workspace("training")
    assert not strip.isVisibleTo(training)


def test_another_room_is_laid_out_and_painted_in_turns_of_their_own(training, qtbot):
    stack = training.workspaces.stack
    for room in ("program", "training"):
        qtbot.waitUntil(stack.updatesEnabled)
        training.workspaces.show_workspace(room)
        assert not stack.updatesEnabled()
    entered = training.workspaces.draw()
    assert stack.updatesEnabled(), "a picture of the room has all that is in it"
    assert entered == training.workspaces.draw()


def test_a_room_that_is_seen_already_stays_in_sight(training, qtbot):
    """Choose an example on a card: the card closes in the same turn, with no blank page."""
    for name in ("training", "program"):
        training.workspaces.show_workspace(name)
        stack = training.workspaces.stack
        qtbot.waitUntil(stack.updatesEnabled)
        training.workspaces.show_workspace(name)
        assert stack.updatesEnabled()
