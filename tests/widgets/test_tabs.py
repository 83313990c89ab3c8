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
