"""Tabs move together before their titles are cut, and a count is cut last."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.tabs import TAB_LOOSE, TAB_TIGHT, CompactTabs


@pytest.fixture
def made(shown):
    tabs = CompactTabs()
    for title in ("Legend", "Output", "Findings"):
        tabs.addTab(QWidget(), title)
    return shown(tabs, 500, 100)


def test_titles_have_air_where_there_is_room(made):
    assert made._padding == TAB_LOOSE


def test_in_a_narrow_column_all_titles_are_whole(made):
    made.setTabText(2, "Findings · 12")
    made.resize(232, 100)
    assert TAB_TIGHT <= made._padding < TAB_LOOSE
    bar = made.tabBar()
    metrics = bar.fontMetrics()
    for at in range(bar.count()):
        assert bar.tabRect(at).width() >= metrics.horizontalAdvance(bar.tabText(at))
    assert bar.tabRect(2).right() <= made.width()
    made.resize(500, 100)
    assert made._padding == TAB_LOOSE


def test_what_must_be_cut_is_cut_in_the_middle(made):
    assert made.elideMode() == Qt.TextElideMode.ElideMiddle


def seen(tabs):
    return [tabs.tabText(i) for i in range(tabs.count()) if tabs.isTabVisible(i)]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_where_titles_would_be_cut_to_nothing_one_is_seen_and_a_menu_has_all(made):
    made.setCurrentIndex(1)
    made.resize(110, 100)
    assert seen(made) == ["Output"]
    assert made.others.isVisible()
    bar = made.tabBar()
    assert bar.tabRect(1).width() >= bar.fontMetrics().horizontalAdvance("Output")
    # Whoever clicks has not to wait until the menu is closed.
    QTest.mouseClick(made.others, Qt.MouseButton.LeftButton)
    menu = made.pages
    assert menu.isVisible()
    assert [(one.text(), one.isChecked()) for one in menu.actions()] == [
        ("Legend", False),
        ("Output", True),
        ("Findings", False),
    ]
    menu.actions()[2].trigger()
    menu.close()
    assert (made.currentIndex(), seen(made)) == (2, ["Findings"])
    made.setCurrentIndex(0)
    assert seen(made) == ["Legend"]
    made.resize(500, 100)
    assert seen(made) == ["Legend", "Output", "Findings"]
    assert made.currentIndex() == 0
    assert not made.others.isVisible()


def test_one_tab_alone_needs_no_menu(shown):
    tabs = CompactTabs()
    tabs.addTab(QWidget(), "A title that is longer than its column")
    assert not shown(tabs, 60, 100).others.isVisible()


def test_a_title_that_grows_too_long_brings_the_menu(made):
    made.resize(232, 100)
    assert not made.others.isVisible()
    made.setTabText(2, "Findings · 123456789")
    assert made.others.isVisible()
    made.setTabText(2, "Findings")
    assert seen(made) == ["Legend", "Output", "Findings"]


def test_where_full_titles_do_not_fit_shorter_ones_stand(shown):
    tabs = CompactTabs()
    for title in ("What it says", "Network", "Loss surface"):
        tabs.addTab(QWidget(), title)
    tabs.shorten({"What it says": "Says", "Loss surface": "Surface"})
    made = shown(tabs, 500, 100)
    assert [made.tabText(i) for i in range(3)] == ["What it says", "Network", "Loss surface"]
    made.resize(200, 100)
    assert [made.tabText(i) for i in range(3)] == ["Says", "Network", "Surface"]
    assert [made.tabToolTip(i) for i in range(3)] == ["What it says", "", "Loss surface"]
    assert [made.full_text(i) for i in range(3)] == ["What it says", "Network", "Loss surface"]
    made.resize(500, 100)
    assert made.tabText(0) == "What it says"
    assert not made.tabToolTip(0)


def test_titles_follow_the_text_size_without_a_change_of_width(shown, qtbot):
    tabs = CompactTabs()
    for title in ("Legend", "Output", "Changes"):
        tabs.addTab(QWidget(), title)
    tabs.shorten({"Legend": "Key", "Changes": "Δ"})
    made = shown(tabs, 300, 100)
    host = made.parentWidget()
    host.setStyleSheet("QTabBar { font-size: 12px; }")
    qtbot.waitUntil(lambda: made.tabText(0) == "Legend")
    host.setStyleSheet("QTabBar { font-size: 30px; }")
    qtbot.waitUntil(lambda: made.tabText(0) == "Key")
    host.setStyleSheet("QTabBar { font-size: 12px; }")
    qtbot.waitUntil(lambda: made.tabText(0) == "Legend")
    assert made.tabText(2) == "Changes"
