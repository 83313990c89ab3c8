"""Panels: columns that remember their widths."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.layout import Columns, Panel, tab_widget


def columns(qtbot):
    parts = [Panel(QLabel(str(n)), str(n)) for n in range(6)]
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1300, 800)
    over.show()
    made = Columns((parts[0], parts[1]), parts[2], (parts[3], parts[4]), parts[5])
    made.setParent(over)
    made.over = over
    made.resize(1200, 700)
    made.show()
    QApplication.sendPostedEvents()
    return made


def test_the_graph_is_the_widest_column(qtbot):
    _, left, centre, right = columns(qtbot).across.sizes()
    assert centre > left + right - 100
    assert min(left, right) > 200


def test_the_graph_has_more_than_half_of_a_window_of_the_usual_size(qtbot):
    made = columns(qtbot)
    made.over.resize(1500, 900)
    made.resize(1440 - 24, 712)
    QApplication.sendPostedEvents()
    _, left, centre, right = made.across.sizes()
    assert 370 <= left <= 400
    assert centre >= 0.55 * (left + centre + right)
    assert made.left.sizes()[1] == pytest.approx(236, abs=4)


def test_bigger_text_widens_the_side_columns(qtbot):
    made = columns(qtbot)
    made.across.setSizes([0, 252, 700, 232])
    made.set_text_scale(1.5)
    QApplication.sendPostedEvents()
    _, left, _, right = made.across.sizes()
    assert left >= 1.5 * 252
    assert right >= 1.5 * 232


def test_gutters_are_where_they_were(qtbot):
    settings, first = Settings(), columns(qtbot)
    first.across.setSizes([0, 400, 500, 276])
    first.left.setSizes([200, 480])
    moved = (first.across.sizes(), first.left.sizes())
    first.remember(settings)
    again = columns(qtbot)
    again.recall(settings)
    assert (again.across.sizes(), again.left.sizes()) == moved


def test_side_columns_can_be_hidden(qtbot):
    made = columns(qtbot)
    made.show_parts(left=False, below=True, right=False)
    QApplication.sendPostedEvents()
    assert made.across.sizes()[2] > 1100
    made.show_parts(left=True, below=False, right=True)
    assert made.left.isVisible()
    assert not made.below.isVisible()


def test_tabs_have_their_titles(qtbot):
    made = tab_widget(("One", QLabel("1")), ("Two", QLabel("2")))
    qtbot.addWidget(made)
    assert [made.tabText(i) for i in range(made.count())] == ["One", "Two"]


def test_a_column_aside_takes_its_room_from_the_graph(qtbot):
    made = columns(qtbot)
    made.over.resize(1500, 900)
    made.resize(1416, 712)
    QApplication.sendPostedEvents()
    before = made.across.sizes()
    made.show_aside(True)
    QApplication.sendPostedEvents()
    aside, left, centre, right = made.across.sizes()
    assert aside == pytest.approx(330, abs=4)
    assert left <= before[1]
    assert right <= before[3] + 4
    assert left < centre < before[2]
    made.show_aside(False)
    assert made.aside.isHidden()


def test_a_narrow_window_has_no_right_column_beside_the_one_aside(qtbot):
    made = columns(qtbot)
    made.resize(980, 600)
    QApplication.sendPostedEvents()
    assert made.right.isVisible()
    made.show_aside(True)
    assert not made.right.isVisible()
    made.resize(1400, 700)
    QApplication.sendPostedEvents()
    assert made.right.isVisible()
    made.show_parts(True, True, False)
    assert not made.right.isVisible()


def test_in_a_narrow_window_centre_and_right_take_turns(qtbot):
    made = columns(qtbot)
    made.resize(980, 600)
    made.show_aside(True)
    QApplication.sendPostedEvents()
    centre, right = made._turns
    assert centre.bar.isVisible()
    assert [centre.bar.tabText(at) for at in range(2)] == ["Graph", "Inspector"]
    width = made.across.sizes()[2]
    tab = centre.bar.tabRect(1).center()
    QTest.mouseClick(centre.bar, Qt.MouseButton.LeftButton, pos=tab)
    QApplication.sendPostedEvents()
    assert made.right.isVisible()
    assert not centre.isVisible()
    assert right.bar.currentIndex() == 1
    assert made.across.sizes()[3] == pytest.approx(width, abs=4)
    right.bar.setFocus()
    QTest.keyClick(right.bar, Qt.Key.Key_Left)
    assert centre.isVisible()
    assert not made.right.isVisible()
    assert centre.bar.currentIndex() == 0
    made.show_right(True)
    made.resize(1400, 700)
    QApplication.sendPostedEvents()
    assert centre.isVisible()
    assert made.right.isVisible()
    assert not centre.bar.isVisible()


def test_the_turns_of_a_lesson_leave_the_gutters_of_the_usual_window_alone(qtbot):
    settings, made = Settings(), columns(qtbot)
    made.across.setSizes([0, 330, 600, 246])
    before = made.across.sizes()
    made.resize(980, 600)
    made.show_aside(True)
    made.show_right(True)
    made.remember(settings)
    again = columns(qtbot)
    again.recall(settings)
    QApplication.sendPostedEvents()
    assert min(again.across.sizes()[1:]) > 200
    assert again.across.sizes()[1] == pytest.approx(before[1], abs=90)


def test_the_column_aside_keeps_its_width_until_a_gutter_is_moved(qtbot):
    made = columns(qtbot)
    made.over.resize(1700, 900)
    made.show_aside(True)
    for width in (1250, 1600):
        made.resize(width, 700)
        QApplication.sendPostedEvents()
        assert made.across.sizes()[0] == pytest.approx(330, abs=4)
    made.across.setSizes([450, 330, 500, 248])
    made.across.splitterMoved.emit(450, 1)
    made.resize(1601, 700)
    QApplication.sendPostedEvents()
    assert made.across.sizes()[0] > 400


def test_another_column_is_laid_out_and_painted_in_turns_of_their_own(qtbot):
    made = columns(qtbot)
    for shown in (True, False):
        qtbot.waitUntil(made.updatesEnabled)
        made.show_aside(shown)
        assert not made.updatesEnabled(), "every column has another width: that is a turn by itself"
        assert made.aside.isVisible() == shown
    qtbot.waitUntil(made.updatesEnabled)
    made.show_aside(False)
    assert made.updatesEnabled(), "nothing has changed"


def test_gutters_moved_by_keyboard_are_remembered(qtbot):
    settings, first = Settings(), columns(qtbot)
    first.over.activateWindow()
    handle, before = first.across.handle(2), first.across.sizes()
    assert handle.accessibleName() == "Border between Program column and Graph"
    handle.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(handle.hasFocus)
    for _ in range(3):
        QTest.keyClick(handle, Qt.Key.Key_Right)
    moved = first.across.sizes()
    assert moved[1] == before[1] + 60
    first.remember(settings)
    again = columns(qtbot)
    again.recall(settings)
    assert again.across.sizes() == moved


@pytest.mark.parametrize(("wide", "scale"), [(1000, 1.0), (1000, 2.0), (1100, 1.5), (760, 1.0)])
def test_no_column_lies_over_another_whatever_the_size_of_the_text(qtbot, wide, scale):
    made = columns(qtbot)
    made.resize(wide, 500)
    made.set_text_scale(scale)
    QApplication.sendPostedEvents()
    inside = [part for part in made.across.children() if isinstance(part, QWidget)]
    seen = sorted(
        (part.geometry() for part in inside if part.isVisible() and made.across.indexOf(part) >= 0),
        key=lambda box: box.left(),
    )
    assert seen[-1].right() < made.across.width()
    for one, after in itertools.pairwise(seen):
        assert one.right() < after.left()


def test_very_large_text_in_a_small_window_alternates_graph_and_inspector(qtbot):
    made = columns(qtbot)
    made.resize(1000, 500)
    made.set_text_scale(2.0)
    assert made.graph.isVisible()
    assert not made.inspector.isVisible()
    made.show_right(True)
    assert made.inspector.isVisible()
    assert not made.graph.isVisible()
    made.set_text_scale(1.0)
    assert made.graph.isVisible()
    assert made.inspector.isVisible()


@pytest.fixture
def low(qtbot):
    """Columns with two pages below the program, 500 pixels high at the usual size of text."""
    made = columns(qtbot)
    made.pages = QLabel("legend"), QLabel("output")
    tabs = tab_widget(("Legend", made.pages[0]), ("Output", made.pages[1]))
    made.below.hold(tabs)
    made.tabs = tabs
    tabs.show()
    made.fold_when_low(tabs)
    made.resize(1300, 500)
    QApplication.sendPostedEvents()
    return made


def test_with_little_height_the_legend_folds_to_its_titles_and_the_program_has_the_space(low):
    assert low.pages[0].isVisible()
    usual = low.left.sizes()
    low.resize(1300, 380)
    QApplication.sendPostedEvents()
    assert not low.pages[0].isVisible()
    assert low.tabs.tabBar().isVisible()
    assert low.left.sizes()[0] > usual[0]
    low.resize(1300, 500)
    QApplication.sendPostedEvents()
    assert low.pages[0].isVisible()
    assert low.left.sizes() == usual


def test_large_text_folds_the_legend_in_a_higher_window(low):
    low.set_text_scale(1.5)
    assert not low.pages[0].isVisible()
    low.set_text_scale(1.0)
    assert low.pages[0].isVisible()


def test_a_folded_page_opens_by_its_title_or_when_it_is_asked_for(low):
    low.resize(1300, 380)
    QApplication.sendPostedEvents()
    bar = low.tabs.tabBar()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    assert low.pages[0].isVisible()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    assert not low.pages[0].isVisible()
    low.tabs.setCurrentIndex(1)
    assert low.pages[1].isVisible()
    assert low.below.height() >= 120


def test_the_gutters_of_a_low_window_are_not_remembered(low):
    usual = low.gutters()["left"]
    low.resize(1300, 380)
    QApplication.sendPostedEvents()
    assert low.gutters()["left"] == usual
