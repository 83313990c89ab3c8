"""The card with a film's options: estimates, errors at their place, and what it begins."""

import os
import stat
import sys
from functools import cache

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.export import encoders
from gradscribe.app.export.film_card import FilmCard, FilmRequest
from gradscribe.app.export.film_options import FilmOptions
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.settings import Settings
from gradscribe.engine.run.run import record
from gradscribe.playback.tape.tempo import BEGIN_MS, END_MS, duration

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
LOOP = """\
w = param(1.0)
opt = optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (w * 2) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@cache
def tape(source=LOOP):
    return record(source)


@pytest.fixture
def ground(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()
    over.activateWindow()
    return over


@pytest.fixture
def open_card(ground, tmp_path):
    """Return a function that opens a card; what it begins is noted."""

    def make(kind="gif", settings=None, source=LOOP, begin=None, **rest):
        begun = []
        given = {
            "tape": tape(source),
            "kind": kind,
            "speed": 1.0,
            "span": (0, len(tape(source).events)),
            "path": tmp_path / f"film.{kind}",
            "ask_save": lambda *_: None,
            "begin": begin or (lambda path, options: begun.append((path, options))),
        } | rest
        card = FilmCard(ground, FilmRequest(**given), settings or Settings())
        card.begun = begun
        card.open()
        return card

    return make


def choose(combo, data):
    combo.setCurrentIndex(combo.findData(data))


def type_into(field, text):
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def click(button):
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def expected_ms(first, stop, speed):
    return BEGIN_MS + END_MS + sum(duration(e.kind, speed) for e in tape().events[first:stop])


def test_the_estimate_follows_every_choice(open_card):
    card = open_card()
    events = len(tape().events)

    def wanted(fps, first=0, stop=events, speed=1.0):
        ms = expected_ms(first, stop, speed)
        return f"{-(-ms * fps // 1000):,} frames, {ms / 1000:.1f} s"

    assert card.estimate.text().startswith(wanted(20))
    choose(card.kind, "mp4")
    assert card.estimate.text().startswith(wanted(30))
    choose(card.speed, 4.0)
    assert card.estimate.text().startswith(wanted(30, speed=4.0))
    type_into(card.first, "5")
    type_into(card.stop, "9")
    assert card.estimate.text().startswith(wanted(30, 5, 9, 4.0))
    choose(card.frame, "1280x720")
    assert card.estimate.text().endswith("1280 × 720 pixels")


def test_a_tape_that_is_too_long_says_that_events_go_together(open_card):
    card = open_card(source="x = param(1.0)\nfor i in range(600):\n    x = x * 1.0\n", speed=0.25)
    at_once = -(-sum(duration(e.kind, 0.25) for e in card._asked.tape.events) // 120_000)
    assert at_once > 1
    assert f"{at_once} events at a time" in card.estimate.text()


def test_from_behind_to_is_said_below_them(open_card):
    card = open_card()
    type_into(card.first, "9")
    type_into(card.stop, "4")
    assert card.range_error.isVisible()
    assert "begin at event 9, after its end at 4" in card.range_error.text()
    assert card.estimate.text() == ""
    assert not card.export.isEnabled()
    card.path.setFocus()
    QTest.keyClick(card.path, Qt.Key.Key_Return)
    assert card.begun == []
    type_into(card.stop, "12")
    assert card.range_error.isHidden()
    assert card.export.isEnabled()


def test_the_same_part_is_said_in_steps(open_card):
    card = open_card()
    steps = card._steps
    assert len(steps) == 3
    choose(card.unit, "step")
    assert (card.first.value(), card.stop.value()) == (1, 3)
    type_into(card.first, "2")
    type_into(card.stop, "2")
    assert card.range_error.isHidden(), "one step is a film"
    made = card.options()
    assert (made.first, made.stop) == steps.span(2)
    choose(card.unit, "event")
    assert (card.first.value(), card.stop.value()) == steps.span(2)
    choose(card.unit, "step")
    assert (card.first.value(), card.stop.value()) == (2, 2)


def test_without_a_loop_there_are_events_alone(open_card):
    card = open_card(source="a = param(2.0)\nb = a * a\nb.backward()\n")
    assert card.unit.isHidden()


def test_what_was_chosen_begins_and_the_card_is_gone(open_card, qtbot, tmp_path):
    settings = Settings()
    card = open_card(settings=settings)
    choose(card.frame, "640x480")
    choose(card.speed, 2.0)
    type_into(card.first, "3")
    click(card.code)
    begun = card.begun
    gone = []
    card.destroyed.connect(lambda: gone.append(True))
    click(card.export)
    events = len(tape().events)
    assert begun == [(tmp_path / "film.gif", FilmOptions((640, 480), 2.0, 3, events, True))]
    qtbot.waitUntil(lambda: gone == [True])
    again = open_card(settings=settings)
    assert again.frame.currentData() == "640x480"
    assert again.code.isChecked(), "size and program are as last time"
    assert again.first.value() == 0


@pytest.mark.parametrize("field", ["kind", "frame", "speed", "first", "stop", "unit", "path"])
def test_return_in_a_field_begins_the_export_as_in_a_dialog(open_card, tmp_path, field):
    card = open_card()
    begun = card.begun
    getattr(card, field).setFocus()
    QTest.keyClick(getattr(card, field), Qt.Key.Key_Return)
    assert [path for path, _ in begun] == [tmp_path / "film.gif"]


def test_return_on_a_box_to_tick_ticks_it(open_card):
    card = open_card()
    card.code.setFocus()
    QTest.keyClick(card.code, Qt.Key.Key_Return)
    assert card.code.isChecked()
    assert card.begun == []


def test_escape_and_cancel_begin_nothing(open_card, qtbot):
    for leave in (
        lambda card: click(card.close_button),
        lambda card: QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape),
    ):
        card = open_card()
        begun, gone = card.begun, []
        card.destroyed.connect(lambda *_, gone=gone: gone.append(True))
        leave(card)
        qtbot.waitUntil(lambda gone=gone: gone == [True])
        assert begun == []


def test_a_folder_that_is_missing_is_said_at_the_file(open_card, tmp_path):
    card = open_card()
    type_into(card.path, str(tmp_path / "gone" / "a.gif"))
    QTest.keyClick(card.path, Qt.Key.Key_Return)
    assert card.path_error.isVisible()
    assert "its folder does not exist" in card.path_error.text()
    assert card.begun == []
    type_into(card.path, str(tmp_path / "a.gif"))
    assert card.path_error.isHidden()
    QTest.keyClick(card.path, Qt.Key.Key_Return)
    assert [path.name for path, _ in card.begun] == ["a.gif"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_is_read_only_is_said_at_the_file(open_card, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    card = open_card(path=folder / "a.gif")
    assert "cannot be written" in card.path_error.text()
    assert not card.export.isEnabled()
    folder.chmod(stat.S_IRWXU)


def test_a_file_that_exists_is_replaced_only_after_that_was_said(open_card, tmp_path):
    (tmp_path / "film.gif").write_bytes(b"mine")
    card = open_card()
    assert "film.gif exists and will be replaced" in card.path_note.text()
    assert card.export.text() == "Replace"
    type_into(card.path, str(tmp_path / "other.gif"))
    (tmp_path / "other.gif").write_bytes(b"mine, too")
    QTest.keyClick(card.path, Qt.Key.Key_Return)
    assert card.begun == [], "it came into being after it was typed: this is said first"
    assert card.export.text() == "Replace"
    click(card.export)
    assert [path.name for path, _ in card.begun] == ["other.gif"]


def test_a_file_chosen_in_the_dialog_is_not_asked_about_again(open_card, tmp_path):
    chosen = tmp_path / "seen.gif"
    chosen.write_bytes(b"old")
    card = open_card(ask_save=lambda *_: chosen)
    click(card.browse)
    assert card.path.text() == str(chosen)
    assert card.export.text() == "Export"
    bare = tmp_path / "bare"
    (tmp_path / "bare.gif").write_bytes(b"old")
    card = open_card(ask_save=lambda *_: bare)
    click(card.browse)
    assert card.export.text() == "Replace", "the dialog asked about a name without suffix"


def test_format_and_suffix_follow_each_other(open_card, tmp_path):
    card = open_card()
    choose(card.kind, "mp4")
    assert card.file() == tmp_path / "film.mp4"
    type_into(card.path, str(tmp_path / "b.gif"))
    card.browse.setFocus()
    assert card.kind.currentData() == "gif"
    type_into(card.path, str(tmp_path / "c.v2"))
    card.browse.setFocus()
    assert card.file().name == "c.v2.gif"
    type_into(card.path, " ")
    card.browse.setFocus()
    assert not card.export.isEnabled()


def test_without_what_writes_video_it_is_said_at_the_format(open_card, monkeypatch):
    monkeypatch.setattr(encoders.importlib.util, "find_spec", lambda name: None)
    card = open_card("mp4")
    assert "pip install av" in card.kind_error.text()
    assert card.kind_error.isVisible()
    assert not card.export.isEnabled()
    choose(card.kind, "gif")
    assert card.kind_error.isHidden()
    assert card.export.isEnabled()


def test_a_refusal_stays_on_the_card(open_card):
    def refuse(*_):
        raise Refused("another.gif is still being written; wait, or cancel it")

    card = open_card(begin=refuse)
    click(card.export)
    assert card.isVisible()
    assert "still being written" in card.path_error.text()


def test_every_field_has_a_name_and_tab_reaches_it(open_card, qtbot):
    card = open_card()
    fields = (card.kind, card.frame, card.speed, card.first, card.stop, card.unit, card.path)
    assert all(field.accessibleName() for field in fields)
    qtbot.waitUntil(card.kind.hasFocus)
    seen = set()
    for _ in range(14):
        seen.add(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert {*fields, card.code, card.browse, card.export, card.close_button} <= seen


def test_a_remembered_size_that_no_film_has_is_that_of_the_graph(open_card):
    settings = Settings()
    settings.put("film_size", "101x999")
    assert open_card(settings=settings).options().size is None
