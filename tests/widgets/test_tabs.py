"""Tabs move together before their titles are cut, and a count is cut last."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from widgets.tabs import TAB_LOOSE, TAB_TIGHT, Tabs


@pytest.fixture
def made(shown):
    tabs = Tabs()
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
    made.resize(80, 100)
    assert made._padding == TAB_TIGHT
    assert made.elideMode() == Qt.TextElideMode.ElideMiddle


def test_where_full_titles_do_not_fit_shorter_ones_stand(shown):
    tabs = Tabs()
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
