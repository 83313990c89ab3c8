"""Changes since the run before, and the runs, in the window, by real events."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.app.compare import changes_controller, run_history
from gradscribe.app.compare.controller import CompareCard
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.diff_lines import DiffLines

BASE = "x = param(2.0)\ny = x * 3\nz = y ** 2\nprint(z.item())\nz.backward()"


@pytest.fixture(autouse=True)
def slow_hands(monkeypatch):
    """Every run is an edit of its own."""
    monkeypatch.setattr(run_history, "MERGE_MS", -1)
    monkeypatch.setattr(changes_controller, "SETTLE_MS", 0)


@pytest.fixture
def shown(settled, link, record, qtbot):
    """Return a function that types a program into the window and waits for its run."""

    def run(source):
        settled.editor.selectAll()
        settled.editor.insertPlainText(source)
        settled.session.run_now()
        link.answer(record(source))
        qtbot.waitUntil(lambda: not settled.changes.is_busy)
        return settled

    settled.show()
    return run


@pytest.fixture
def two(shown):
    """A window in which 3 became 4 in line 2."""
    shown(BASE)
    return shown(BASE.replace("x * 3", "x * 4"))


def texts(pane):
    return [one.text() for one in pane.changes()]


def click(tree, item):
    tree.scrollToItem(item)
    where = tree.visualItemRect(item).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=where)


@pytest.mark.checklist(13, 15)
def test_after_a_run_the_changes_are_listed_by_themselves(two):
    pane = two.changes.pane
    assert pane.edit.said() == "line 2: y = x * 3 → y = x * 4"
    # d(kx)²/dx = 2k²x: 36 for k = 3 and 64 for k = 4 at x = 2.
    assert "gradient of x: 36.0000 → 64.0000" in texts(pane)
    assert "z: 36.0000 → 64.0000" in texts(pane)
    assert "36.0 → 64.0" in texts(pane)
    assert two.below.tabText(two.below.indexOf(two.changes.page)) == f"Changes · {len(texts(pane))}"


def test_several_edited_lines_are_shown_with_their_numbers(shown):
    shown(BASE)
    two = shown(BASE.replace("x * 3", "x * 4").replace("2.0", "1.0"))
    assert two.changes.pane.edit.said() == "2 lines from line 1 on"
    strips = two.changes.pane.findChildren(DiffLines)
    rows = [strip.rows for strip in strips if not strip.isHidden()]
    assert rows == [
        ["1  x = param(2.0)", "2  y = x * 3"],
        ["1  x = param(1.0)", "2  y = x * 4"],
    ]


def test_a_click_on_a_change_goes_to_its_line_and_card(two):
    two.changes.show_changes()
    pane = two.changes.pane
    items = [pane.rows.topLevelItem(at) for at in range(pane.rows.topLevelItemCount())]
    wanted = next(item for item in items if item.text(1) == "z")
    click(pane.rows, wanted)
    assert two.editor.textCursor().blockNumber() + 1 == 3
    card = two.presenter.selected_card()
    assert two.presenter.picture.value_cards[pane.changes()[items.index(wanted)].value] == card.key


def test_keys_walk_through_the_changes(two):
    two.changes.show_changes()
    rows = two.changes.pane.rows
    rows.setCurrentItem(rows.topLevelItem(0))
    QTest.keyClick(rows, Qt.Key.Key_Down)
    assert rows.currentItem() is rows.topLevelItem(1)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_changes_and_runs_have_their_menus_by_keyboard(two, qtbot):
    two.resize(1440, 900)
    with qtbot.waitActive(two):
        two.show()
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    shift = Qt.KeyboardModifier.ShiftModifier
    press = partial(QTest.keyClick, two.windowHandle())

    def copied_row():
        press(Qt.Key.Key_F10, shift)
        menu = QApplication.activePopupWidget()
        menu.close()
        entries = {action.text(): action for action in menu.actions()}
        entries["Copy the row"].trigger()
        return QGuiApplication.clipboard().text(), entries

    press(Qt.Key.Key_H, control | alt)
    rows = two.changes.pane.rows
    assert QApplication.focusWidget() is rows
    assert rows.selectedItems() == [rows.topLevelItem(0)], "what the graph shows is marked"
    press(Qt.Key.Key_Down)
    second = rows.topLevelItem(1)
    assert copied_row()[0] == "\t".join(second.text(column) for column in range(3))
    press(Qt.Key.Key_H, control | shift)
    runs = two.changes.runs_pane.rows
    qtbot.waitUntil(lambda: QApplication.focusWidget() is runs)
    press(Qt.Key.Key_Down)
    text, entries = copied_row()
    assert text.split("\t")[0] == runs.topLevelItem(1).text(0)
    entries["Go back to it"].trigger()
    assert two.editor.source() == BASE


def test_the_same_program_again_says_that_nothing_changed(two, shown):
    shown(BASE.replace("x * 3", "x * 4"))
    pane = two.changes.pane
    assert pane.edit.said() == "the same program again"
    assert pane.counts.said() == "No value, gradient, print or finding changed"
    assert two.below.tabText(two.below.indexOf(two.changes.page)) == "Changes"


def test_another_document_forgets_the_changes(two):
    two.context._start_from(
        __import__("gradscribe.app.document.examples", fromlist=["x"]).load()[1]
    )
    assert two.changes.pane.changes() == []
    assert two.changes.pane.rows.isHidden()


def test_long_runs_are_compared_in_the_background(shown, monkeypatch):
    monkeypatch.setattr(changes_controller, "INLINE_EVENTS", 0)
    shown(BASE)
    window = shown(BASE.replace("x * 3", "x * 4"))
    assert "z: 36.0000 → 64.0000" in texts(window.changes.pane)


def test_very_long_runs_wait_to_be_asked(shown, monkeypatch):
    monkeypatch.setattr(changes_controller, "MOST_EVENTS", 0)
    shown(BASE)
    window = shown(BASE.replace("x * 3", "x * 4"))
    assert window.changes.pane.counts.said() == changes_controller.LONG
    assert window.changes.pane.edit.said() == "line 2: y = x * 3 → y = x * 4"


@pytest.mark.checklist(17)
def test_side_by_side_opens_both_runs_with_their_lines(two, qtbot):
    two.changes.show_changes()
    QTest.mouseClick(two.changes.pane.compare, Qt.MouseButton.LeftButton)
    card = two.findChild(CompareCard)
    rows = [strip.rows for strip in card.findChildren(DiffLines)]
    assert rows == [["2  y = x * 3"], ["2  y = x * 4"]]
    qtbot.waitUntil(lambda: not card.left.scene_builder.busy and not card.right.scene_builder.busy)
    card.leave()


@pytest.mark.checklist(25)
def test_the_runs_are_listed_with_what_differs_and_their_result(two):
    rows = two.changes.runs_pane.rows
    assert rows.topLevelItem(0).text(3) == "line 2: y = x * 3 → y = x * 4"
    assert rows.topLevelItem(0).text(1) == "z 64.0000"
    assert rows.topLevelItem(1).text(1) == "z 36.0000"
    assert rows.topLevelItem(0).text(2) == "0 · cpu"


def test_a_failed_run_names_its_error(shown):
    window = shown(BASE + "\nno_such_name")
    rows = window.changes.runs_pane.rows
    assert rows.topLevelItem(0).text(1) == "NameError at line 6"


def choose(window, at):
    window.changes.show_runs()
    rows = window.changes.runs_pane.rows
    click(rows, rows.topLevelItem(at))
    return window.changes.runs_pane


@pytest.mark.checklist(25)
def test_go_back_restores_the_text_and_undo_leads_forward(two, link, record, qtbot):
    pane = choose(two, 1)
    QTest.mouseClick(pane.back, Qt.MouseButton.LeftButton)
    assert two.editor.source() == BASE
    assert link.runs[-1] == (BASE, 0, "cpu")
    link.answer(record(BASE))
    two.editor.undo()
    assert two.editor.source() == BASE.replace("x * 3", "x * 4")


def test_the_latest_run_is_where_one_is(two):
    pane = choose(two, 0)
    assert not pane.back.isEnabled()
    assert not pane.compare.isEnabled()
    assert pane.keep.isEnabled()


def test_a_run_is_kept_and_named_in_its_row(two, qtbot):
    pane = choose(two, 1)
    QTest.mouseClick(pane.keep, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not two.changes.is_busy)
    assert pane.rows.topLevelItem(1).text(2).endswith("kept")
    QTest.mouseClick(pane.name, Qt.MouseButton.LeftButton)
    field = pane.rows.focusWidget()
    QTest.keyClicks(field, "three")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: pane.rows.topLevelItem(1).text(0) == "three")
    assert two.changes.history.runs[-2].name == "three"
    assert two.changes.history.runs[-2].is_kept


def test_the_chosen_run_is_compared_with_the_latest(two, qtbot):
    pane = choose(two, 1)
    QTest.mouseClick(pane.compare, Qt.MouseButton.LeftButton)
    card = two.findChild(CompareCard)
    assert card.compared.causes[0].lines == (2, 2)
    qtbot.waitUntil(lambda: not card.left.scene_builder.busy and not card.right.scene_builder.busy)
    card.leave()


def test_the_commands_lead_to_both_tabs_and_back(two, link):
    two.menus.perform_by("run.changes")
    assert two.changes.pane.isVisible()
    two.menus.perform_by("run.history")
    assert two.changes.runs_pane.isVisible()
    QTest.mouseClick(two.changes.runs_pane.changes, Qt.MouseButton.LeftButton)
    assert two.changes.pane.isVisible()
    QTest.mouseClick(two.changes.pane.runs, Qt.MouseButton.LeftButton)
    assert two.changes.runs_pane.isVisible()
    two.menus.perform_by("run.back")
    assert two.editor.source() == BASE


@pytest.mark.parametrize("name", ["light", "dark"])
def test_gradients_have_their_colour_in_both_themes(two, name):
    theme = Theme.load(name)
    two.changes.pane.set_theme(theme)
    two.changes.show_changes()
    rows = two.changes.pane.rows
    rows.setMinimumHeight(300)
    image = rows.viewport().grab().toImage()
    colors = {
        image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())
    }
    assert theme.backward.rgb() in colors


def test_a_run_from_before_a_restart_is_compared_with_its_lines(shown, link, record, qtbot):
    """The window is that of a later session: the run before it runs again, in its own engine."""
    from gradscribe.app.compare.run_history import StoredRun
    from gradscribe.engine.protocol.tape import Tape
    from gradscribe.playback.compare.run_changes import ProgramRun

    window = shown(BASE)
    history = window.changes.history
    source = BASE.replace("x * 3", "x * 4")
    earlier = ProgramRun(source, 5, "cpu", Tape())
    latest = history.latest()
    number = latest.number
    history.runs[:] = [
        StoredRun(number - 1, earlier, 0, is_recorded=False, result="z 64.000"),
        latest,
    ]
    window.changes._compare_latest()
    assert window.changes.pane.edit.said().startswith("line 2: y = x * 4 → y = x * 3")
    window.changes._list_runs()
    window.changes.compare_with(number - 1)
    companion = link.companions[-1]
    assert companion.runs == [(source, 5, "cpu")]
    companion.answer(record(source))
    card = window.findChild(CompareCard)
    rows = [strip.rows for strip in card.findChildren(DiffLines)]
    assert any("2  y = x * 4" in str(row) for row in rows)
    assert any("2  y = x * 3" in str(row) for row in rows)
    assert history.runs[0].is_recorded
    card.leave()
