"""Figures stand among the lines of output, in the order in which they came."""

import io

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure as MplFigure
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.console import LINES, Console
from gradscribe.widgets.tables.figure_window import FigureWindow


@pytest.fixture(scope="module")
def figure():
    drawn, data = MplFigure(), io.BytesIO()
    drawn.add_subplot().plot([3, 2, 1])
    with mpl.rc_context({"svg.fonttype": "path"}):
        drawn.savefig(data, format="svg")
    return Figure(data.getvalue(), "svg", 460.8, 345.6, "Loss", "1 line")


@pytest.fixture
def console(shown):
    return shown(Console(), 360, 700)


def order(console):
    """Texts and figures (by number) as they stand one below the other on the screen."""
    view, found = console.view, []
    block = view.document().begin()
    while block.isValid():
        top = view.blockBoundingGeometry(block).translated(view.contentOffset()).top()
        if block.userState() <= 0 and block.text():
            found.append((top, block.text()))
        block = block.next()
    found += [(figure.y(), number) for number, figure in enumerate(console.figures.views)]
    return [what for _, what in sorted(found)]


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("a\nb\nc\n", (1, 2), ["a", 0, "b", 1, "c"]),
        ("a\nb\nc\n", (0, 3), [0, "a", "b", "c", 1]),
        ("a\nb\nc", (3, 3), ["a", "b", "c", 0, 1]),
        ("a\nb\n", (1, 1), ["a", 0, 1, "b"]),
        ("a\n", (-1, 0), [1, "a", 0]),
        ("", (0, 0), [0, 1]),
        ("a\r\nb\rc\n", (1, 2), ["a", 0, "b", 1, "c"]),
    ],
)
def test_text_and_figures_are_one_column_in_their_order(console, figure, text, after, expected):
    console.set_text(text)
    console.set_figures(tuple(replace(figure, after=at) for at in after))
    assert order(console) == expected


def test_the_text_is_what_was_printed(console, figure):
    for text in ("a\nb\n", "a\nb", ""):
        console.set_text(text)
        console.set_figures((replace(figure, after=1), replace(figure, after=9)))
        assert console.text() == text.rstrip("\n") + "\n" * text.endswith("\n")
        console.set_figures(())
        assert console.view.toPlainText() == text


def test_output_that_goes_on_keeps_the_figures_where_they_were(console, figure):
    console.set_text("a\n")
    console.set_figures((replace(figure, after=1), replace(figure, after=2)))
    console.set_text("a\nb")
    console.set_text("a\nb\nc\n")
    assert order(console) == ["a", 0, "b", 1, "c"]


def test_warnings_stand_below_all(console, figure):
    console.set_text("a\nb\n")
    console.set_warnings("line 3: UserWarning: odd")
    console.set_figures((replace(figure, after=2), replace(figure, after=1)))
    assert order(console) == ["a", 1, "b", 0, "line 3: UserWarning: odd"]
    console.set_warnings("line 4: UserWarning: other")
    assert order(console)[-1] == "line 4: UserWarning: other"
    assert console.text() == "a\nb\n"


def test_a_figure_is_as_wide_as_the_text_and_never_higher_than_the_view(console, figure, qtbot):
    console.set_text("a\nb\n")
    console.set_figures((replace(figure, after=1),))
    (view,) = console.figures.views
    wide = console.view.viewport().width()
    assert wide - 40 <= view.width() <= wide
    assert view.height() == pytest.approx(view.width() / (460.8 / 345.6), abs=20)
    console.resize(700, 260)
    qtbot.waitUntil(lambda: view.height() <= console.view.viewport().height())
    assert order(console) == ["a", 0, "b"]
    console.resize(250, 700)
    qtbot.waitUntil(lambda: view.width() < 230 and view.height() < 190)
    assert view.height() == pytest.approx(view.width() / (460.8 / 345.6), abs=20)


def test_figures_do_not_overlap_text(console, figure):
    console.set_text("".join(f"line {n}\n" for n in range(6)))
    console.set_figures(tuple(replace(figure, after=n) for n in (1, 4)))
    bar = console.view.verticalScrollBar()
    for value in range(0, bar.maximum() + 1, 3):
        bar.setValue(value)
        QApplication.sendPostedEvents()
        view, block = console.view, console.view.document().begin()
        while block.isValid():
            box = view.blockBoundingGeometry(block).translated(view.contentOffset())
            if block.userState() <= 0 and not box.isEmpty():
                for shown in console.figures.views:
                    assert not box.toRect().adjusted(0, 2, 0, -2).intersects(shown.geometry())
            block = block.next()


def test_lines_that_were_left_out_count(console, figure):
    console.set_text("".join(f"{n}\n" for n in range(LINES * 2)))
    last = LINES * 2
    console.set_figures((replace(figure, after=5), replace(figure, after=last - 1)))
    assert console.text().endswith(f"{last - 1}\n")
    block, found = console.view.document().begin(), []
    while block.isValid():
        found.append(-block.userState() if block.userState() > 0 else block.text())
        block = block.next()
    assert found[0] == -1
    assert found[-4:] == [str(last - 2), -2, str(last - 1), ""]


def test_lines_before_the_text_count(console, figure):
    console.set_text("c\nd\n")
    console.set_figures((replace(figure, after=1), replace(figure, after=3)), skipped=2)
    assert order(console) == [0, "c", 1, "d"]


def test_what_is_copied_is_the_text(console, figure, qapp):
    console.set_text("a\n\nb\n")
    console.set_figures((replace(figure, after=1),))
    console.view.setFocus()
    QTest.keyClick(console.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(console.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert qapp.clipboard().text() == "a\n\nb\n"


def test_a_click_opens_a_figure_large(console, figure, qtbot):
    console.set_figures((figure,))
    qtbot.mouseClick(console.figures.views[0], Qt.MouseButton.LeftButton)
    (large,) = console.window().findChildren(FigureWindow)
    assert large.windowTitle() == "Loss"
    qtbot.mouseClick(console.figures.views[0], Qt.MouseButton.LeftButton)
    assert console.window().findChildren(FigureWindow) == [large], "it is raised, not opened twice"
    assert "Loss" in console.figures.views[0].accessibleName()
    large.close()


def test_the_keyboard_reaches_figures_out_of_view(shown, figure, qtbot):
    console = shown(Console(), 360, 240)
    console.window().activateWindow()
    console.set_text("a\n" * 60)
    console.set_figures((replace(figure, after=5), replace(figure, after=50)))
    console.view.verticalScrollBar().setValue(0)
    console.view.setFocus()
    qtbot.waitUntil(console.view.hasFocus)
    for view, before in zip(
        console.figures.views, (console.view, *console.figures.views), strict=False
    ):
        QTest.keyClick(before, Qt.Key.Key_Tab)
        assert view.hasFocus()
        qtbot.waitUntil(lambda view=view: 0 <= view.y() < console.view.viewport().height() / 2)
    QTest.keyClick(console.figures.views[1], Qt.Key.Key_Space)
    (large,) = console.window().findChildren(FigureWindow)
    large.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_stands_on_white_paper_in_both_themes(console, figure, theme):
    console.set_theme(Theme.load(theme))
    console.set_figures((figure,))
    view = console.figures.views[0]
    area = view.picture.area_in(view.rect().toRectF().adjusted(2, 2, -2, -2))
    corner = area.topLeft().toPoint()
    seen = view.grab().toImage()
    assert seen.pixelColor(corner.x() + 5, corner.y() + 5).name() == "#ffffff"
