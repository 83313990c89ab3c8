"""The palette: what fits and in which order."""

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gradscribe.app.ui.palette import CommandPalette, PaletteLine, matching_lines, rank


def lines(*titles, run=lambda: None):
    return [PaletteLine(title, "", "", run) for title in titles]


def test_beginnings_of_words_fit_in_any_order():
    assert rank("mod expand", "View: Expand all modules") is not None
    assert rank("xyz", "View: Open all modules") is None


def test_words_come_before_scattered_letters():
    found = matching_lines("st", lines("File: Save as text", "Run: Stop", "Play: Fast"))
    assert found[0].title == "Run: Stop"


def test_an_empty_query_keeps_all_in_order():
    assert [line.title for line in matching_lines("", lines("b", "a"))] == ["b", "a"]


def test_letters_in_order_fit():
    assert rank("rn", "Run now") is not None
    assert rank("nr", "Ran") is None


def test_what_a_command_does_finds_it_where_no_title_fits():
    film = PaletteLine(
        "File: Export playback as GIF", "Write the playing tape to an animated film", "", id
    )
    both = [film, PaletteLine("Run: Stop", "Stop the program", "", id)]
    assert matching_lines("export film", both) == [film]
    assert matching_lines("stop", both) == [both[1]]
    assert matching_lines("xyzzy", both) == []


def test_commands_come_before_the_text_that_is_about_them():
    text = PaletteLine("Manual: Films", "Do", "", id, is_text=True)
    export = PaletteLine("File: Export playback", "Write it as a film", "", id)
    end = PaletteLine("File: End the film here", "", "", id)
    scattered = PaletteLine("File: Loom", "", "", id)
    found = matching_lines("film", [scattered, text, export, end])
    assert found == [end, export, text, scattered]


IMPOSSIBLE = PaletteLine("View: Ways to the loss", "Show the ways", "", id, enabled=False)


def test_what_is_not_possible_now_is_found_by_its_name_after_what_is():
    both = [IMPOSSIBLE, *lines("View: Next ways", "View: Always on top")]
    found = matching_lines("ways", both)
    assert [line.title for line in found] == [
        "View: Next ways",
        "View: Ways to the loss",
        "View: Always on top",
    ]
    assert matching_lines("", both) == both[1:]
    assert IMPOSSIBLE not in matching_lines("show", both), "its tip alone does not list it"
    assert IMPOSSIBLE not in matching_lines("vwl", both), "nor do scattered letters"


def test_what_is_not_possible_now_says_so_and_stays_without_effect(qtbot):
    over, done = QWidget(), []
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()
    line = dataclasses.replace(IMPOSSIBLE, run=lambda: done.append(1))
    palette = CommandPalette(over, [line])
    palette.open()
    assert palette.found.model().rowCount() == 0
    qtbot.keyClicks(palette.query, "ways")
    assert palette.found.model().rowCount() == 1
    item = palette.found.model().index(0, 0)
    assert not item.flags() & Qt.ItemFlag.ItemIsEnabled
    assert "Not possible now" in item.data(Qt.ItemDataRole.AccessibleDescriptionRole)
    qtbot.keyClick(palette.query, Qt.Key.Key_Return)
    qtbot.mouseClick(
        palette.found.viewport(),
        Qt.MouseButton.LeftButton,
        pos=palette.found.visualRect(item).center(),
    )
    assert done == []
    assert palette.isVisible()


def test_that_nothing_fits_is_said(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()
    palette = CommandPalette(over, lines("Run: Stop", "View: Fit"))
    palette.open()
    assert not palette.nothing.isVisible()
    qtbot.keyClicks(palette.query, "xyzzy")
    assert palette.nothing.isVisible()
    palette.query.clear()
    assert not palette.nothing.isVisible()


def test_return_runs_the_chosen_line_and_closes(qtbot):
    over, done = QWidget(), []
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()
    both = [PaletteLine("Run: Stop", "", "", lambda: done.append("stop"))]
    both.append(PaletteLine("Run: Restart", "", "", lambda: done.append("restart")))
    palette = CommandPalette(over, both)
    palette.open()
    qtbot.keyClick(palette.query, Qt.Key.Key_Down)
    qtbot.keyClick(palette.query, Qt.Key.Key_Return)
    assert done == ["restart"]
    assert not palette.isVisible()


def test_typing_narrows_and_escape_closes(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()
    palette = CommandPalette(over, lines("Run: Stop", "View: Fit"))
    palette.open()
    qtbot.keyClicks(palette.query, "fit")
    assert palette.found.model().rowCount() == 1
    with qtbot.waitSignal(palette.destroyed):
        qtbot.keyClick(palette.query, Qt.Key.Key_Escape)


def test_return_with_nothing_found_does_nothing(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    palette = CommandPalette(over, lines("Run: Stop"))
    palette.query.setText("zzz")
    qtbot.keyClick(palette.query, Qt.Key.Key_Return)
    assert palette.found.model().rowCount() == 0


def test_a_line_costs_no_widgets(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    few = CommandPalette(over, [PaletteLine("Command", "tip", "Ctrl+K", lambda: None)])
    many = CommandPalette(
        over, [PaletteLine(f"Command {i}", "tip", "", lambda: None) for i in range(200)]
    )
    assert many.found.model().rowCount() == 200
    assert len(many.findChildren(QWidget)) == len(few.findChildren(QWidget))


@pytest.mark.parametrize("part", ["title", "tip", "keys"])
def test_title_tip_and_keys_of_a_line_are_painted(qtbot, part):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()

    def row(**words):
        line = PaletteLine(
            **{"title": "Run: Stop", "tip": "now", "keys": "Esc", **words}, run=print
        )
        made = CommandPalette(over, [line])
        made.open()
        found = made.found
        qtbot.waitUntil(lambda: found.updatesEnabled() and found.isVisible())
        seen = found.viewport().grab(found.visualRect(found.model().index(0, 0))).toImage()
        made.leave()
        return seen

    whole = row()
    assert row() == whole
    assert row(**{part: ""}) != whole


def test_a_long_tip_leaves_the_keys_alone(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 600)
    over.show()

    def keys(tip):
        made = CommandPalette(over, [PaletteLine("Run: Stop", tip, "Ctrl+Shift+K", print)])
        made.open()
        found = made.found
        qtbot.waitUntil(lambda: found.updatesEnabled() and found.isVisible())
        place = found.visualRect(found.model().index(0, 0))
        place.setLeft(place.right() - 60)
        seen = found.viewport().grab(place).toImage()
        made.leave()
        return seen

    assert keys("and so on " * 50) == keys("")
