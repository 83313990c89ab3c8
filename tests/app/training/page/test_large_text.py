"""Text of 200 % on the training page, small and large: no column covers another, no tab is cut."""

import itertools

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QTabBar


@pytest.fixture(params=[(1000, 640), (1440, 900)])
def large(window, qtbot, request):
    window.settings.put("text", 2.0)
    window.resize(*request.param)
    window.show()
    window.workspaces.show_workspace("training")
    assert window.workspaces.widgets
    window.train_link.greet()
    window.train_link.begin(1, window.workspaces.session.setup)
    qtbot.waitUntil(lambda: window.look.scale() == 2.0)
    qtbot.waitUntil(lambda: window.workspaces.widgets.form.parts["schedule"].choice.count() > 0)
    return window


def columns(page):
    parts = page.columns
    return [parts.widget(at) for at in range(parts.count()) if parts.widget(at).isVisible()]


def test_columns_stand_next_to_each_other_and_inside_the_window(large, qtbot):
    page = large.workspaces.widgets

    def apart():
        boxes = [part.geometry() for part in columns(page)]
        assert all(a.right() < b.left() for a, b in itertools.pairwise(boxes)), boxes
        assert boxes[-1].right() <= page.columns.width(), (boxes, page.columns.size())
        for part in columns(page):
            hint = part.minimumSizeHint().expandedTo(part.minimumSize())
            assert part.width() >= hint.width(), (part, part.size(), hint)

    qtbot.waitUntil(lambda: apart() is None)


def test_tabs_are_whole_or_in_a_menu(large, qtbot):
    page = large.workspaces.widgets

    def whole():
        for bar in page.findChildren(QTabBar):
            if not bar.isVisible():
                continue
            seen = QRect(0, 0, bar.width(), bar.height())
            for at in range(bar.count()):
                if bar.isTabVisible(at):
                    rect = bar.tabRect(at)
                    assert seen.contains(rect), (bar.tabText(at), rect, seen)
                    needed = bar.fontMetrics().horizontalAdvance(bar.tabText(at))
                    assert rect.width() >= needed, (bar.tabText(at), rect, needed)

    qtbot.waitUntil(lambda: whole() is None)
