"""Menus: what is possible, what is ticked, and what a refusal looks like."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QPushButton

from gradscribe.app import commands
from gradscribe.app.commands import MENUS, Command, load
from gradscribe.app.files.documents import Refused


def action(window, command):
    return window.menus._actions[command]


def test_there_is_a_menu_for_each_name(window):
    titles = [entry.text() for entry in window.menuBar().actions()]
    assert [title.replace("&", "") for title in titles] == list(MENUS)


def test_every_menu_has_a_letter_of_its_own_with_alt(window):
    letters = [entry.text().partition("&")[2][:1] for entry in window.menuBar().actions()]
    assert all(letters)
    assert len(set(letters)) == len(MENUS)
    taken = {key for one in commands.load() for key in one.keys}
    assert not taken & {f"Alt+{letter.upper()}" for letter in letters}


def test_every_shortcut_is_on_its_action(window):
    for one in load():
        if not one.choices:
            wanted = [QKeySequence(key) for key in one.keys]
            assert action(window, one.id).shortcuts() == wanted


def test_playing_is_possible_once_there_is_a_tape(window, link, sum_times):
    assert not action(window, "play.toggle").isEnabled()
    link.greet()
    window.open_first()
    assert action(window, "run.stop").isEnabled()
    link.answer(sum_times)
    assert action(window, "play.toggle").isEnabled()
    assert not action(window, "run.stop").isEnabled()


def test_ticks_follow_the_state(settled):
    assert action(settled, "view.values").isChecked()
    settled.session.show_layers({"values": False})
    assert not action(settled, "view.values").isChecked()


def test_a_refusal_is_told_in_the_status_line(settled):
    def refuse(shell):
        raise Refused("That cannot be done")

    settled.menus.perform(Command("x", "X", "File/1", "Tip", refuse))
    assert settled.status.message.text() == "That cannot be done"


def test_every_menu_fits_below_its_title_in_the_smallest_window(settled):
    # Qt would put what does not fit into more columns, up to all of the screen.
    bar = settled.menuBar()
    for entry in bar.actions():
        menu = entry.menu()
        menu.aboutToShow.emit()
        lists = [menu, *(one.menu() for one in menu.actions() if one.menu())]
        tall = [(one.title(), one.sizeHint().height()) for one in lists]
        assert all(high <= 640 - bar.height() for _, high in tall), tall


def test_a_submenu_of_a_group_has_its_commands_with_their_keys(settled):
    zoom = next(
        one.menu()
        for one in next(
            e.menu() for e in settled.menuBar().actions() if e.text() == "&View"
        ).actions()
        if one.text() == "Zoom"
    )
    assert action(settled, "view.fit") in zoom.actions()
    assert action(settled, "view.fit").shortcut().toString() == "Ctrl+0"


def test_the_palette_begins_with_a_new_program(settled):
    assert next(iter(settled.menus.lines())).title == "File: New"


def test_a_submenu_is_filled_when_it_opens(settled):
    submenu = action(settled, "file.examples").menu()
    submenu.aboutToShow.emit()
    titles = [entry.text() for entry in submenu.actions()]
    assert "One neuron" in titles
    submenu.actions()[titles.index("One neuron")].trigger()
    assert settled.session.doc.title == "One neuron"


def test_an_empty_submenu_says_so(window):
    submenu = action(window, "file.recent").menu()
    submenu.aboutToShow.emit()
    assert [entry.isEnabled() for entry in submenu.actions()] == [False]


def key(code, modifier=Qt.KeyboardModifier.NoModifier):
    return QKeyEvent(QEvent.Type.KeyPress, code, modifier)


def test_bare_keys_work_without_modifiers_only(settled):
    settled.session.move(0)
    assert settled.menus.press(key(Qt.Key.Key_Right))
    assert settled.session.view.position == 1
    assert not settled.menus.press(key(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier))
    assert not settled.menus.press(key(Qt.Key.Key_Escape)), "nothing runs that could be stopped"


def test_return_clicks_the_button_at_hand(settled, qtbot):
    button = QPushButton("Try", settled)
    clicked = []
    button.clicked.connect(lambda: clicked.append(1))
    with qtbot.waitExposed(settled):
        settled.show()
    button.show()
    settled.activateWindow()
    button.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is button)
    assert settled.menus.press(key(Qt.Key.Key_Return))
    assert clicked == [1]
    settled.editor.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is settled.editor)
    assert not settled.menus.press(key(Qt.Key.Key_Return))
    assert clicked == [1]


def test_the_palette_has_a_line_for_every_command_and_says_which_is_possible(settled):
    enabled = {line.title: line.enabled for line in settled.menus.lines()}
    assert enabled["Play: Step"]
    assert enabled["Examples: One neuron"]
    assert not enabled["Run: Stop"]
