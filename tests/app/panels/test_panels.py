"""Panels that the user moves, hides and finds again, and layouts with names."""

import pytest
from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from gradscribe.app.files.documents import Refused
from gradscribe.app.panels import layout_file
from gradscribe.app.panels.area import is_on_a_screen
from gradscribe.app.panels.layout_file import AreaLayout, WindowLayout
from gradscribe.app.ui.popup import PopupCard

# The screen of the tests neither raises windows nor knows their frames.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PANELS = ["program", "graph", "inspector", "legend", "output", "findings"]
PANELS += ["values", "lines", "ledger", "lesson", "timeline", "changes"]


def settle():
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


@pytest.fixture
def shown(settled, qtbot):
    settled.resize(1440, 900)
    settled.show()
    qtbot.waitExposed(settled)
    settle()
    return settled


def place(widget):
    """The rectangle of a widget in its window."""
    return QRect(widget.mapTo(widget.window(), QPoint()), widget.size())


def is_seen(widget):
    """A dock behind the front tab is visible to Qt, somewhere outside of the window."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def usual(window):
    """Places of all parts, and the titles of the tabs."""
    parts = (window.editor, window.graph, window.inspector, window.below, window.tables)
    titles = [[tabs.tabText(at) for at in range(tabs.count())] for tabs in parts[3:]]
    return [place(part) for part in parts], titles


def test_the_panels_of_the_page_can_all_be_moved(shown):
    assert sorted(shown.panels.area.names()) == sorted(PANELS)


@pytest.mark.parametrize("name", ["program", "graph", "inspector", "output", "values"])
def test_a_panel_leaves_its_place_and_returns_to_it(shown, name):
    before, area = usual(shown), shown.panels.area
    content = area.content(name)
    for side in ("left", "right", "top", "bottom"):
        area.dock_panel(name, side)
        settle()
        assert content.isVisible()
        edge = {"left": 0, "top": 0, "right": area.width(), "bottom": area.height()}[side]
        at = QRect(content.mapTo(area, QPoint()), content.size())
        near = {"left": at.left(), "top": at.top(), "right": at.right(), "bottom": at.bottom()}
        assert abs(near[side] - edge) < 60
    area.float_panel(name)
    settle()
    assert content.window() is not shown
    assert content.isVisible()
    area.put_back(name)
    settle()
    area.reset()
    settle()
    assert usual(shown) == before


def test_the_rest_gets_the_space_of_a_panel_that_has_left(shown):
    area, width = shown.panels.area, shown.graph.width()
    area.float_panel("inspector")
    for name in ("values", "lines", "ledger"):
        area.hide_panel(name)
    settle()
    assert not shown.columns.right.isVisible()
    assert shown.graph.width() > width + 100


def test_everything_can_be_docked_and_the_middle_disappears(shown):
    area = shown.panels.area
    before = usual(shown)
    for name in area.names():
        area.dock_panel(name, "right")
    settle()
    assert not shown.columns.isVisible()
    assert shown.graph.isVisible()
    area.reset()
    settle()
    assert usual(shown) == before


def test_two_panels_share_a_place_as_tabs(shown):
    area = shown.panels.area
    area.dock_panel("inspector", "left")
    area.tab_panel("values", "inspector")
    settle()
    assert is_seen(shown.values)
    assert not is_seen(shown.inspector)
    area.show_panel("inspector")
    settle()
    assert is_seen(shown.inspector)
    assert not is_seen(shown.values)


def test_a_hidden_panel_returns_to_its_place_when_it_is_shown(shown):
    area, before = shown.panels.area, usual(shown)
    for name in ("output", "graph", "program", "values"):
        area.hide_panel(name)
        settle()
        assert not area.content(name).isVisible()
    for name in ("output", "graph", "program", "values"):
        area.show_panel(name)
    area.reset()
    settle()
    assert usual(shown) == before


def test_a_hidden_dock_returns_to_where_it_was_docked(shown):
    area = shown.panels.area
    area.dock_panel("output", "top")
    settle()
    at = place(shown.console)
    area.hide_panel("output")
    settle()
    area.show_panel("output")
    settle()
    assert abs(place(shown.console).top() - at.top()) < 5
    assert area.is_out("output")


def test_findings_that_are_asked_for_appear_wherever_their_panel_is(shown):
    area = shown.panels.area
    area.hide_panel("findings")
    settle()
    shown.menus.perform_by("doctor.open")
    settle()
    assert shown.findings.isVisible()
    area.dock_panel("findings", "right")
    area.dock_panel("values", "right")
    area.tab_panel("values", "findings")
    settle()
    assert not is_seen(shown.findings)
    shown.menus.perform_by("doctor.open")
    settle()
    assert is_seen(shown.findings)


def test_a_page_that_stands_elsewhere_is_filled_as_its_tab_would_be(shown):
    shown.panels.area.dock_panel("lines", "right")
    settle()
    shown.clock.reset()
    shown.clock.step()
    settle()
    assert shown.lines.isVisible()
    assert shown.tables.is_open(shown.lines)
    assert "x = param(-2.0)" in shown.lines.line.said()


def test_the_title_of_a_docked_page_follows_its_tab(shown, link, record):
    shown.panels.area.dock_panel("findings", "right")
    source = "import torch\nw = torch.ones(2, requires_grad=True)\nfor i in range(2):\n"
    source += "    (w * 2).sum().backward()\n"
    shown.session.edit_live(source)
    link.answer(record(source))
    settle()
    (dock,) = shown.panels.area.docked()
    assert dock.windowTitle() == shown.below.title_of(shown.below.pages_in_order()[2])


def test_columns_that_are_switched_off_take_their_docks_along(shown):
    shown.panels.area.dock_panel("inspector", "left")
    settle()
    shown.settings.put("right", False)
    settle()
    assert not shown.inspector.isVisible()
    shown.settings.put("right", True)
    settle()
    assert shown.inspector.isVisible()


def test_space_plays_in_a_panel_with_its_own_window(shown, qtbot):
    shown.clock.reset()
    shown.panels.area.float_panel("graph")
    settle()
    QTest.keyClick(shown.graph, Qt.Key.Key_Space)
    assert shown.clock.playing
    shown.clock.pause()
    shown.panels.area.float_panel("inspector")
    QTest.keyClick(shown.inspector, Qt.Key.Key_Home)
    QTest.keyClick(shown.inspector, Qt.Key.Key_Space)
    assert shown.clock.playing
    shown.clock.pause()


# Keyboard and menus


def perform(window, submenu, start):
    """Choose the line of the palette that begins like this, as the palette does."""
    lines = [line for line in window.menus.lines() if line.title.startswith(f"{submenu}: {start}")]
    assert len(lines) == 1, [line.title for line in window.menus.lines()]
    lines[0].run()
    settle()


def test_the_palette_moves_the_panel_with_the_keyboard(shown, qtbot):
    shown.activateWindow()
    shown.graph.setFocus()
    qtbot.waitUntil(lambda: shown.panels.current() == "graph")
    perform(shown, "Move the panel", "Graph to the left")
    assert shown.panels.area.is_out("graph")
    width = shown.graph.width()
    perform(shown, "Move the panel", "Graph wider")
    assert shown.graph.width() > width
    perform(shown, "Move the panel", "Graph in a window of its own")
    assert shown.panels.area.is_floating("graph")
    perform(shown, "Move the panel", "Hide Graph")
    assert not shown.graph.isVisible()
    perform(shown, "Panels", "Graph")
    assert shown.graph.isVisible()
    perform(shown, "Move the panel", "Graph back in its place")
    assert not shown.panels.area.is_out("graph")


def test_the_menu_of_a_panel_that_is_out_has_its_moves(shown):
    shown.panels.area.dock_panel("ledger", "bottom")
    settle()
    (dock,) = shown.panels.area.docked()
    QTest.mouseClick(dock.bar.menu, Qt.MouseButton.LeftButton)
    menu = next(m for m in QApplication.topLevelWidgets() if m.inherits("QMenu") and m.isVisible())
    titles = [action.text() for action in menu.actions()]
    assert "Events in a window of its own" in titles
    next(a for a in menu.actions() if a.text() == "Events back in its place").trigger()
    menu.close()
    settle()
    assert not shown.panels.area.is_out("ledger")


def test_the_cross_of_a_dock_hides_it_and_says_how_it_returns(shown):
    shown.panels.area.dock_panel("ledger", "bottom")
    (dock,) = shown.panels.area.docked()
    QTest.mouseClick(dock.bar.hide_button, Qt.MouseButton.LeftButton)
    settle()
    assert not dock.isVisible()
    assert "View › Panels" in shown.status.message.text()


def test_handles_lie_over_every_panel_while_panels_are_arranged(shown):
    shown.menus.perform_by("panels.arrange")
    settle()
    visible = [handle for handle in shown.panels._handles if handle.isVisible()]
    # Program, graph, inspector, time line, and the front tab of both groups.
    assert len(visible) == 6
    shown.menus.perform_by("panels.arrange")
    settle()
    assert not shown.panels.is_arranging


def test_a_handle_that_is_dragged_tears_its_panel_out(shown):
    shown.menus.perform_by("panels.arrange")
    settle()
    handle = next(h for h in shown.panels._handles if h.parent() is shown.columns.inspector)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    QTest.mouseMove(handle, QPoint(60, 90))
    settle()
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(60, 90))
    settle()
    assert shown.panels.area.is_out("inspector")
    assert shown.inspector.isVisible()


# Restarts


@pytest.fixture
def again(shown, open_window, tmp_path):
    """Close the window, and open it again with the same settings."""

    def make():
        from gradscribe.app.files.documents import Drafts
        from gradscribe.app.files.settings import Settings
        from gradscribe.app.window.window import Window
        from tests.app.fakes import FakeLink

        shown.recovery._warned = True
        shown.close()
        made = Window(FakeLink(), Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts2"))
        opened.append(made)
        made.show()
        settle()
        return made

    opened = []
    yield make
    for window in opened:
        window.recovery._warned = True
        window.close()
        window.deleteLater()


def test_panels_are_where_they_were_after_a_restart(shown, again):
    area = shown.panels.area
    # The screen of the tests has no space for more.
    shown.resize(900, 640)
    settle()
    area.dock_panel("output", "bottom")
    area.dock_panel("graph", "right")
    area.float_panel("inspector", QPoint(200, 200))
    area.hide_panel("legend")
    settle()
    before = {name: place(area.content(name)) for name in ("output", "graph", "inspector")}
    window = again()
    now = window.panels.area
    assert now.is_hidden("legend")
    assert now.is_floating("inspector")
    for name, rectangle in before.items():
        found = place(now.content(name))
        assert all(
            abs(a - b) <= 12 for a, b in zip(found.getRect(), rectangle.getRect(), strict=True)
        ), (name, found, rectangle)


def test_a_tab_that_appears_later_takes_the_place_it_had(shown, again):
    shown.menus.perform_by("view.curves")
    settle()
    shown.panels.area.dock_panel("curves", "top")
    settle()
    window = again()
    window.menus.perform_by("view.curves")
    settle()
    assert window.panels.area.is_out("curves")
    assert window.loop_curves.page.isVisible()


@pytest.mark.parametrize("data", [b"junk", b"\xff" * 300, b"gradscribe-session 9 1 x\nx\n"])
def test_a_spoilt_layout_is_said_and_the_panels_are_in_their_places(shown, again, data):
    shown.panels.area.dock_panel("graph", "left")
    # As a crash of a later version might leave it.
    shown.panels.remember = lambda: None
    shown.settings.put_shape("panels", QByteArray(data))
    window = again()
    assert "usual places" in window.status.message.text()
    assert not list(window.panels.area.docked())


def test_docks_that_cannot_be_restored_stand_at_the_right(shown):
    shown.panels.area.restore(AreaLayout(out=("graph", "nonsense"), docks=b"\0\1\2"))
    settle()
    assert shown.graph.isVisible()
    assert "cannot be restored" in shown.status.message.text()


def test_a_window_on_a_screen_that_is_gone_comes_back(shown):
    area = shown.panels.area
    area.float_panel("graph", QPoint(9000, 9000))
    settle()
    area._bring_back()
    settle()
    (dock,) = area.docked()
    assert is_on_a_screen(dock.frameGeometry())
    assert "Graph was on a screen that is not there" in shown.status.message.text()


def test_a_title_just_above_a_screen_is_out_of_reach(qapp):
    screen = QGuiApplication.primaryScreen().availableGeometry()
    size = QSize(400, 300)
    assert is_on_a_screen(QRect(screen.topLeft(), size))
    assert not is_on_a_screen(QRect(screen.topLeft() - QPoint(0, 120), size))
    assert not is_on_a_screen(QRect(screen.topRight() - QPoint(20, 0), size))


# Named layouts


def test_layouts_are_saved_chosen_renamed_and_deleted(shown):
    area = shown.panels.area
    area.dock_panel("output", "bottom")
    shown.answers["text"] = "Wide / ∇"
    shown.panels.save("Wide / ∇")
    area.reset()
    settle()
    assert not area.is_out("output")
    perform(shown, "Layout", "Wide / ∇")
    assert area.is_out("output")
    (stored,) = shown.panels.store.all()
    shown.panels.store.rename(stored, "Other")
    assert [one.name for one in shown.panels.store.all()] == ["Other"]
    perform(shown, "Delete a layout", "Other")
    assert shown.panels.store.all() == []
    assert area.is_out("output")


def test_saving_under_a_name_replaces_the_layout_of_that_name(shown):
    shown.panels.save("A")
    shown.panels.area.dock_panel("output", "bottom")
    shown.panels.save("A")
    (stored,) = shown.panels.store.all()
    assert stored.layout.areas["program"].out == ("output",)


def test_a_damaged_layout_is_listed_with_its_reason_and_changes_nothing(shown, tmp_path):
    shown.panels.save("A")
    path = next((tmp_path / "layouts").iterdir())
    path.write_bytes(path.read_bytes()[:-9])
    (stored,) = shown.panels.store.all()
    before = usual(shown)
    perform(shown, "Layout", stored.name)
    assert "cannot be read" in shown.status.message.text()
    assert usual(shown) == before
    assert path.exists()


def test_a_layout_of_a_later_version_is_said_to_be_one(shown, tmp_path):
    shown.panels.save("A")
    path = next((tmp_path / "layouts").iterdir())
    path.write_bytes(path.read_bytes().replace(b"session 1 ", b"session 2 ", 1))
    (stored,) = shown.panels.store.all()
    assert "format 2" in stored.trouble


def test_a_folder_that_cannot_be_written_is_said(shown, tmp_path):
    (tmp_path / "layouts").write_text("a file in its place")
    with pytest.raises(Refused, match="cannot be written"):
        shown.panels.save("A")


@pytest.mark.parametrize("name", ["", "x" * 61, "a\nb", "a\0b"])
def test_a_name_that_cannot_be_one_is_refused(shown, name):
    with pytest.raises(Refused, match="printable"):
        shown.panels.store.save(WindowLayout(name=name))


def test_a_layout_reads_back_as_it_was_written():
    area = AreaLayout(("a",), ("a",), b"\0\xff", {"left": b"\1"})
    layout = WindowLayout("name", {"program": area}, {"left": False})
    assert layout_file.decode(layout_file.encode(layout)) == layout


def test_reset_gives_the_arrangement_of_a_new_window(shown):
    before = usual(shown)
    shown.columns.across.setSizes([0, 500, 400, 400])
    shown.columns.left.setSizes([300, 500])
    shown.settings.put("right", False)
    shown.below.setCurrentIndex(2)
    shown.panels.area.dock_panel("graph", "bottom")
    shown.panels.area.float_panel("values")
    settle()
    shown.menus.perform_by("panels.reset")
    settle()
    assert usual(shown) == before
    assert shown.below.currentIndex() == 0


def test_reset_while_nothing_was_moved_changes_nothing(shown):
    before = usual(shown)
    shown.menus.perform_by("panels.reset")
    settle()
    assert usual(shown) == before


# Presenting and lessons


def test_presenting_with_a_docked_graph_shows_program_and_graph(shown, qtbot):
    area = shown.panels.area
    area.dock_panel("graph", "right")
    area.dock_panel("values", "bottom")
    settle()
    before = place(shown.graph)
    shown.presentation.toggle()
    qtbot.waitUntil(lambda: not shown.look._steps.busy)
    settle()
    assert shown.graph.isVisible()
    assert shown.editor.isVisible()
    assert not shown.values.isVisible()
    shown.presentation.toggle()
    qtbot.waitUntil(lambda: not shown.look._steps.busy)
    settle()
    assert shown.values.isVisible()
    assert abs(place(shown.graph).width() - before.width()) < 60


def test_a_lesson_opens_in_its_dock(shown):
    area = shown.panels.area
    area.dock_panel("lesson", "right")
    settle()
    assert not shown.lesson_dock.pane.isVisible()
    shown.columns.show_aside(True)
    settle()
    assert shown.lesson_dock.pane.isVisible()
    assert not shown.columns.aside.isVisible()
    shown.columns.show_aside(False)
    settle()
    assert not shown.lesson_dock.pane.isVisible()
    area.put_back("lesson")
    shown.columns.show_aside(True)
    settle()
    assert shown.columns.aside.isVisible()
    shown.columns.show_aside(False)


def test_a_lesson_is_seen_while_every_other_panel_stands_elsewhere(shown):
    area = shown.panels.area
    for name in area.names():
        if name != "lesson":
            area.dock_panel(name, "right")
    shown.columns.show_aside(True)
    settle()
    assert is_seen(shown.lesson_dock.pane)
    shown.columns.show_aside(False)


def test_a_narrow_window_does_not_alternate_with_a_graph_elsewhere(shown):
    shown.resize(1000, 700)
    shown.panels.area.float_panel("graph")
    shown.columns.show_aside(True)
    settle()
    assert shown.inspector.isVisible()
    shown.columns.show_aside(False)


def test_a_panel_over_the_main_window_makes_way_for_the_list_of_commands(shown, qtbot):
    """The system stacks it above the window and so above the list, whose lines it covered."""
    area = shown.panels.area
    corner = shown.mapToGlobal(QPoint())
    area.float_panel("values", corner + QPoint(500, 150))
    area.float_panel("output", corner + QPoint(3000, 100))
    settle()
    content, far = area.content("values"), area.content("output")
    at = content.window().geometry()
    shown.menus.perform_by("help.palette")
    settle()
    assert not content.isVisible()
    assert far.isVisible()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    settle()
    assert content.isVisible()
    assert content.window().geometry() == at


def test_a_command_finds_the_panels_as_they_stand(shown, qtbot):
    """A layout saved from the list of commands has the panel that makes way for the list."""
    area = shown.panels.area
    area.float_panel("values", shown.mapToGlobal(QPoint(500, 150)))
    settle()
    wanted = area.layout_now()
    card = PopupCard(area, 600, 500)
    card.open()
    seen = []
    card.leave_after(lambda: seen.append(area.layout_now()))
    assert seen == [wanted]
    qtbot.waitUntil(lambda: not isValid(card))
    assert area.content("values").isVisible()
