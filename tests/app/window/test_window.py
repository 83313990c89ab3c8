"""The window as its user meets it: type, play, step back, break it, mend it."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRectF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest

from gradscribe.app.document.state import Doc
from gradscribe.app.files.documents import Refused
from gradscribe.app.ui.examples.gallery import Gallery
from gradscribe.engine.protocol.tape import Tape
from tests.app.fakes import broken


def values(window):
    """The table of values as it is shown: name -> (value, gradient)."""
    model = window.values.view.model()
    rows = range(model.rowCount())
    return {
        model.index(r, 0).data(): (model.index(r, 1).data(), model.index(r, 2).data()) for r in rows
    }


def test_the_first_screen_shows_an_example(window, link):
    window.open_first()
    assert "(x + y) * z" in window.editor.toPlainText()
    assert "(x + y) * z" in window.top.title.text()
    assert window.top.examples.text() == "Examples"
    link.greet()
    assert link.sources == [window.editor.toPlainText()]


def test_a_tape_fills_every_view(settled):
    shown = values(settled)
    assert shown["z"] == ("−4.0000", "3.0000")
    assert shown["x"] == ("−2.0000", "−4.0000")
    assert settled.transport.position() == settled.clock.length > 0
    assert "3 parameters" in settled.top.counts.text()
    assert settled.presenter.picture.cards


@pytest.mark.checklist(39)
def test_typing_runs_the_program(settled, link, qtbot):
    settled.editor.setFocus()
    settled.editor.selectAll()
    qtbot.keyClicks(settled.editor, "x = param(2.0)")
    qtbot.waitUntil(lambda: len(link.runs) == 2)
    assert link.sources[-1].startswith("x = param(2.0)")


def test_break_it_and_mend_it(settled, link, record):
    cards = settled.presenter.picture.cards
    settled.session.edit_live("x = (")
    link.answer(broken())
    assert settled.presenter.picture.cards == cards
    assert "SyntaxError" in settled.status.message.text()
    assert "SyntaxError" in settled.console.problem_text()
    settled.session.edit_live("x = param(2.0)\ny = x * x\ny.backward()")
    link.answer(record("x = param(2.0)\ny = x * x\ny.backward()"))
    assert "SyntaxError" not in settled.status.message.text()
    assert values(settled)["x"] == ("2.0000", "4.0000")


@pytest.mark.checklist(73)
def test_step_back_takes_the_last_gradient_back(settled):
    settled.clock.back()
    position = settled.session.view.position
    assert position == settled.clock.length - 1
    settled.clock.reset()
    assert settled.transport.position() == 0
    settled.clock.step()
    assert settled.session.view.position == 1


def test_playing_goes_through_to_the_end(settled, qtbot):
    settled.clock.set_speed(8)
    settled.transport.buttons.play_button.click()
    assert settled.clock.playing
    qtbot.waitUntil(lambda: not settled.clock.playing, timeout=10_000)
    assert settled.session.view.position == settled.clock.length


def test_space_plays_and_arrows_step_when_the_graph_has_the_focus(settled, qtbot):
    settled.show()
    settled.graph.setFocus()
    qtbot.keyClick(settled, Qt.Key.Key_Home)
    assert settled.session.view.position == 0
    qtbot.keyClick(settled, Qt.Key.Key_Right)
    assert settled.session.view.position == 1
    qtbot.keyClick(settled, Qt.Key.Key_Left)
    assert settled.session.view.position == 0
    qtbot.keyClick(settled, Qt.Key.Key_Space)
    assert settled.clock.playing
    settled.clock.pause()


def test_space_in_the_editor_is_a_space(settled, qtbot):
    settled.show()
    settled.editor.setFocus()
    settled.editor.moveCursor(settled.editor.textCursor().MoveOperation.End)
    qtbot.keyClick(settled.editor, Qt.Key.Key_Space)
    assert settled.editor.toPlainText().endswith(" ")
    assert not settled.clock.playing


def card(window, name):
    return next(c for c in window.presenter.picture.cards if name in (c.name, c.title))


def test_a_click_on_a_card_selects_it_everywhere(settled):
    chosen = card(settled, "L")
    settled.graph.picked.emit(chosen.key)
    assert settled.session.view.selection == chosen.key
    assert settled.values.selected() == chosen.value


def test_a_click_on_a_line_selects_its_card(settled):
    lines = settled.editor.toPlainText().split("\n")
    settled.editor.line_picked.emit(lines.index("q = x + y") + 1)
    assert settled.session.view.selection == card(settled, "q").key


def test_a_click_on_a_line_of_a_leaf_selects_its_pill(settled):
    lines = settled.editor.toPlainText().split("\n")
    settled.editor.line_picked.emit(lines.index("y = param(5.0)") + 1)
    assert settled.session.view.selection == card(settled, "y").key


def test_a_click_on_a_row_of_values_selects_its_card(settled):
    settled.values.picked.emit(card(settled, "z").value)
    assert settled.session.view.selection == card(settled, "z").key


def test_a_row_of_the_ledger_goes_to_its_event(settled):
    settled.ledger.picked.emit(3)
    assert settled.session.view.position == 3
    assert settled.transport.position() == 3


def test_a_check_is_asked_of_the_engine(settled, link):
    settled.inspector.check_requested.emit(card(settled, "x").value, 0)
    assert link.asked == [("check", 1, card(settled, "x").value, 0)]


@pytest.mark.checklist(124)
def test_layers_are_switched_from_the_bar_and_remembered(settled):
    settled.top.layers["shapes"].click()
    assert not settled.session.view.shapes
    assert not settled.settings.flag("shapes")


def test_the_status_line_says_how_the_engine_is(window, link, sum_times):
    window.open_first()
    assert "starting" in window.status.engine.text()
    link.greet()
    assert "Running" in window.status.engine.text()
    link.answer(sum_times)
    assert "torch 2.13.0" in window.status.engine.text()


def test_an_example_can_be_chosen_from_the_gallery(settled, link, qtbot):
    settled.show()
    settled.top.examples.click()
    gallery = settled.findChild(Gallery)
    qtbot.waitUntil(lambda: not gallery.filling.busy)
    gallery.tiles[3].click()
    assert settled.session.doc.title == gallery.tiles[3].accessibleName()
    assert link.sources[-1] == settled.editor.toPlainText()


def test_a_dropped_file_is_opened(settled, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("a = param(1.0)\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    settled.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    assert settled.editor.toPlainText() == "a = param(1.0)\n"
    assert settled.top.title.text() == "mine.py"


def test_a_file_that_is_no_text_is_refused_in_the_status_line(settled, tmp_path):
    path = tmp_path / "picture.py"
    path.write_bytes(b"\x89PNG\0\xff")
    before = settled.editor.toPlainText()
    settled.answers["open"] = path
    open_file = next(c for c in settled.menus._commands if c.id == "file.open")
    settled.menus.perform(open_file)
    assert "not text" in settled.status.message.text()
    assert settled.editor.toPlainText() == before


def test_a_missing_file_at_the_start_is_refused(window, tmp_path):
    with pytest.raises(Refused, match="cannot be read"):
        window.open_first(str(tmp_path / "none.py"))


def test_what_was_not_saved_is_there_next_time(settled):
    settled.session.edit("x = 1  # unfinished")
    settled.close()
    assert settled.drafts.find("").source == "x = 1  # unfinished"
    settled.open_first()
    assert settled.editor.toPlainText() == "x = 1  # unfinished"


def test_an_untouched_document_leaves_no_draft(settled):
    settled.close()
    assert settled.drafts.find("") is None


def test_closing_ends_engine_and_clock(settled, link):
    settled.clock.set_speed(0.25)
    settled.clock.play()
    settled.close()
    assert link.closed
    assert not settled.clock.playing


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(900, 600), (1000, 640), (1440, 900), (1920, 1200)])
def test_nothing_is_pushed_out_of_the_window(settled, theme, size):
    settled.settings.put("theme", theme)
    settled.resize(*size)
    settled.show()
    assert (settled.width(), settled.height()) == size
    for part in (
        settled.editor,
        settled.graph,
        settled.inspector,
        settled.transport,
        settled.values,
    ):
        corner = part.mapTo(settled, QPoint(part.width(), part.height()))
        assert part.width() > 100
        assert corner.x() <= size[0]
        assert corner.y() <= size[1]


def test_presenting_leaves_program_graph_and_transport(settled):
    settled.show()
    settled.settings.put("presenting", True)
    assert not settled.inspector.isVisible()
    assert not settled.menuBar().isVisible()
    assert settled.editor.isVisible()
    settled.settings.put("presenting", False)
    assert settled.inspector.isVisible()


def test_the_window_says_when_it_was_painted(window, qtbot):
    with qtbot.waitSignal(window.painted):
        window.show()


def test_the_first_output_turns_to_its_tab_and_leaves_the_keyboard_alone(window, link, qtbot):
    link.greet()
    window.open_first()
    window.show()
    window.activateWindow()
    window.editor.setFocus()
    qtbot.waitUntil(window.editor.hasFocus)
    link.print("hello\n")
    assert window.below.currentWidget() is window.console
    assert window.editor.hasFocus()


def test_who_has_chosen_a_tab_is_left_there(window, link):
    link.greet()
    window.open_first()
    window.below.tabBarClicked.emit(0)
    link.print("hello\n")
    assert window.below.currentWidget() is not window.console
    window.session.load(Doc(source="print(1)"))
    link.answer(Tape())
    link.print("1\n")
    assert window.below.currentWidget() is window.console


def test_warnings_are_counted_on_the_tab_and_shown_below_the_output(window, link):
    link.greet()
    window.open_first()
    link.answer(Tape(stdout="a\n", stderr="line 2: UserWarning: broadcasting\n"))
    assert window.below.tabText(1) == "Output · 1"
    assert window.console.warnings() == "line 2: UserWarning: broadcasting"
    window.session.run_now()
    link.answer(Tape())
    assert window.below.tabText(1) == "Output"


def test_a_mistake_while_typing_does_not_turn_the_tab(settled, link):
    settled.session.edit_live("x = (")
    link.answer(broken(events=0))
    shown = settled.below.currentWidget() is settled.console
    assert shown == bool(settled.session.result.stdout)


@pytest.mark.checklist(207)
def test_what_backward_holds_is_told_at_each_position(settled):
    told = []
    for position in range(settled.clock.length, -1, -1):
        settled.session.move(position)
        told.append(settled.status.held.text())
    assert told[0] == told[-1] == "0 B held for backward"
    assert "8 B held for backward" in told, "q * z keeps q and z"


def test_the_text_of_all_panels_grows_in_presenting(settled):
    before = settled.transport.scrubber.sizeHint().height()
    settled.settings.put("presenting", True)
    settled.look.finish()
    assert settled.transport.scrubber.sizeHint().height() > before
    assert settled.inspector.panes[0].theme.scale > 1.3
    settled.settings.put("presenting", False)


# The camera


CHAIN = "\n".join(["x0 = param(1.0)", *(f"x{n + 1} = x{n} * 1.01" for n in range(60))])


@pytest.fixture
def chain(settled, link, record, qtbot):
    """A window that shows a chain of 60 ops, at its start."""
    settled.resize(1440, 900)
    settled.show()
    settled.graph.set_reduced_motion(True)
    settled.session.edit_live(CHAIN)
    link.answer(record(CHAIN))
    qtbot.waitUntil(lambda: settled.presenter.is_drawn)
    settled.clock.reset()
    settled.clock.step()
    assert (
        not settled.graph.canvas.camera.box_to_view(settled.graph.stage().bounds).height()
        <= settled.graph.height()
    )
    return settled


def playing_card(window):
    """The box of the card that is playing, in pixels of the graph."""
    looks = window.graph.look().cards
    key = next(key for key, shown in looks.items() if shown.active)
    return window.graph.camera().box_to_view(window.graph.stage().boxes[key])


def sees_what_plays(window):
    return QRectF(window.graph.rect()).contains(playing_card(window))


def pull(window, by):
    start = QPoint(300, 300)
    QTest.mousePress(window.graph, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(window.graph, start + by / 2)
    QTest.mouseMove(window.graph, start + by)
    QTest.mouseRelease(window.graph, Qt.MouseButton.LeftButton, pos=start + by)


def test_what_plays_is_followed_until_a_drag_and_again_by_the_chip(chain, qtbot):
    chain.clock.seek(40)
    assert sees_what_plays(chain)
    assert chain.over.follow.isHidden()
    pull(chain, QPoint(0, 4000))
    before = chain.graph.camera()
    chain.clock.step()
    assert chain.graph.camera() == before
    assert chain.over.follow.isVisible()
    qtbot.mouseClick(chain.over.follow.button, Qt.MouseButton.LeftButton)
    assert sees_what_plays(chain)
    assert chain.over.follow.isHidden()


def test_play_follows_again_after_a_drag(chain):
    chain.clock.seek(40)
    pull(chain, QPoint(0, 4000))
    assert not sees_what_plays(chain)
    chain.menus.perform_by("play.toggle")
    assert sees_what_plays(chain)
    chain.clock.pause()


def test_following_can_be_switched_off_and_is_remembered(chain):
    chain.menus.perform_by("view.follow")
    assert not chain.settings.flag("follow")
    before = chain.graph.camera()
    chain.clock.seek(50)
    assert chain.graph.camera() == before
    assert chain.over.follow.isHidden()
    chain.menus.perform_by("view.follow")
    assert sees_what_plays(chain)
