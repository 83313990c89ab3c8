"""The parts on the canvas: the path of modules, the buttons, the search line."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gradscribe.app.ui.canvas.graph_overlay import GraphOverlay
from gradscribe.playback.graph.coloring import ColorLegend
from gradscribe.playback.graph.folding.breadcrumbs import Crumb
from gradscribe.widgets.base.theme import Theme

PATH = (Crumb("f:gpt", "gpt"), Crumb("f:h", "h.5"), Crumb("f:attn", "attn"), Crumb("s", "softmax"))


@pytest.fixture
def graph(qtbot):
    made = QWidget()
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show()
    return made


@pytest.fixture
def over(graph):
    return GraphOverlay(graph)


def test_each_module_of_the_path_is_a_button(over, qtbot):
    over.set_path(PATH)
    assert over.crumbs.isVisible()
    buttons = [b for b in over.crumbs.findChildren(QPushButton) if b.isVisible()]
    assert [b.text() for b in buttons] == ["gpt", "h.5", "attn"]
    with qtbot.waitSignal(over.crumbs.picked) as heard:
        buttons[1].click()
    assert heard.args == ["f:h"]


def test_a_card_outside_of_all_modules_has_no_path(over):
    over.set_path(PATH[-1:])
    assert not over.crumbs.isVisible()
    over.set_path(PATH)
    over.set_path(())
    assert not over.crumbs.isVisible()


def test_a_long_path_leaves_its_outer_modules_out(over, graph):
    graph.resize(1000, 400)
    over.set_path(PATH)
    whole = over.crumbs.width()
    graph.resize(whole - 20, 400)
    over.set_path(PATH)
    texts = [b.text() for b in over.crumbs.findChildren(QPushButton) if b.isVisible()]
    assert over.crumbs.isVisible()
    assert "gpt" not in texts
    assert over.crumbs.width() <= graph.width()


def test_the_tools_stay_in_their_corner(over, graph, qtbot):
    for size in ((800, 600), (400, 300)):
        graph.resize(*size)
        edge = over.tools.geometry()
        assert graph.rect().contains(edge)
        assert graph.width() - edge.right() < 20
        assert graph.height() - edge.bottom() < 20


def test_bigger_text_is_not_cut(over, graph):
    over.tools.setStyleSheet("QPushButton { font-size: 26px; }")
    over.settle()
    assert over.tools.width() >= over.tools.sizeHint().width()
    assert graph.rect().contains(over.tools.geometry())


def test_modules_are_folded_and_opened_only_where_there_are_some(over):
    tools = over.tools
    assert not tools.collapse_button.isVisible()
    tools.set_modules(True)
    assert tools.collapse_button.isVisible()
    assert tools.expand_button.isVisible()


@pytest.mark.parametrize("name", ["fit", "collapse", "expand"])
def test_a_press_is_told(over, qtbot, name):
    with qtbot.waitSignal(getattr(over.tools, f"{name}_pressed")):
        getattr(over.tools, f"{name}_button").click()


def test_find_turns_the_buttons_into_a_search_line_and_escape_back(over, graph, qtbot):
    tools = over.tools
    tools.find_button.click()
    assert tools.is_open()
    qtbot.waitUntil(tools.query.hasFocus)
    with qtbot.waitSignal(tools.searched) as heard:
        qtbot.keyClicks(tools.query, "s")
    assert heard.args == ["s"]
    for modifier, back in (
        (Qt.KeyboardModifier.NoModifier, False),
        (Qt.KeyboardModifier.ShiftModifier, True),
    ):
        with qtbot.waitSignal(tools.stepped) as heard:
            qtbot.keyClick(tools.query, Qt.Key.Key_Return, modifier)
        assert heard.args == [back]
    tools.show_count("1 of 2")
    assert tools.count.text() == "1 of 2"
    qtbot.keyClick(tools.query, Qt.Key.Key_Escape)
    assert not tools.is_open()
    qtbot.waitUntil(graph.hasFocus)


def test_what_the_key_takes_of_its_corner_is_told(over, graph, qtbot):
    told = []
    over.legend_resized.connect(told.append)
    over.show_key(
        ColorLegend("Gradient norm", "gradient", ("1e−6", "1e2"), note="log"), Theme.load("light")
    )
    key = over.key.geometry()
    assert told[-1].width() >= graph.width() - key.left()
    assert told[-1].height() >= key.bottom()
    high = told[-1].height()
    graph.resize(450, 600)
    assert told[-1].height() < high  # without the note
    over.show_key(None, Theme.load("light"))
    assert told[-1].isEmpty()


def test_another_path_takes_the_buttons_of_the_one_before(over, qtbot):
    over.set_path(PATH)
    made = over.crumbs.findChildren(QWidget)
    other = (Crumb("f:net", "net"), Crumb("f:0", "0"), Crumb("r", "relu"))
    for path in (other, PATH, PATH[1:], (), PATH):
        over.set_path(path)
    assert over.crumbs.findChildren(QWidget) == made
    over.set_path(other)
    buttons = [b for b in over.crumbs.findChildren(QPushButton) if b.isVisible()]
    assert [b.text() for b in buttons] == ["net", "0"]
    with qtbot.waitSignal(over.crumbs.picked) as heard:
        buttons[1].click()
    assert heard.args == ["f:0"]


def test_a_path_that_found_no_room_is_whole_again_where_there_is_some(over, graph):
    graph.resize(1000, 400)
    over.set_path(PATH)
    words = [w.text() for w in over.crumbs.findChildren(QLabel) if w.isVisible()]
    whole = over.crumbs.width()
    for width in (whole - 20, 60, 1000):
        graph.resize(width, 400)
    assert [w.text() for w in over.crumbs.findChildren(QLabel) if w.isVisible()] == words
    assert over.crumbs.width() == whole


def test_following_is_offered_at_the_bottom_of_the_graph(over, graph, qtbot):
    assert over.follow.isHidden()
    for size in ((800, 600), (400, 300)):
        graph.resize(*size)
        over.offer_following(True)
        chip = over.follow.geometry()
        assert graph.rect().contains(chip)
        assert not chip.intersects(over.tools.geometry())
    with qtbot.waitSignal(over.follow.pressed):
        qtbot.mouseClick(over.follow.button, Qt.MouseButton.LeftButton)
    over.follow.button.setFocus()
    over.offer_following(False)
    assert over.follow.isHidden()
    assert graph.hasFocus()


def test_the_chip_of_an_export_has_space_from_its_first_moment(over, qtbot):
    chip = over.film
    for name in ("film.gif", "a_rather_long_name_of_it.mp4"):
        chip.begin("Writing", name)
        qtbot.waitUntil(chip.isVisible)
        for share in (0, 100):
            chip.show_share(share, 100)
            for part in (chip.name, chip.percent):
                assert part.width() >= part.sizeHint().width()
            assert chip.name.geometry().right() < chip.bar.x()
            assert chip.bar.geometry().right() < chip.percent.x()
            assert chip.cancel_button.geometry().right() < chip.width()
        chip.end()
