"""Questions to the graph, by menu, palette and the context menu of a card."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from gradscribe.app.document.state import Doc
from gradscribe.widgets.inspector.panes.backward_node import BackwardNodePane

SOURCE = """\
x = param(2.0)
y = param(3.0)
a = x * y
b = a.detach()
d = a + x
loss = d * b
loss.backward()
"""


@pytest.fixture
def asked(settled, qtbot, record):
    """Return a function that selects a name and performs a command; names that do not fade."""
    settled.show()
    settled.session.load(Doc(source=SOURCE, saved=SOURCE), tape=record(SOURCE))
    qtbot.waitUntil(lambda: settled.presenter.is_drawn, timeout=20_000)
    settled.clock.seek(10**6)

    def ask(command, name):
        settled.presenter.select_name(name)
        settled.menus.perform_by(command)
        qtbot.waitUntil(lambda: settled.presenter.is_answered, timeout=20_000)
        focus = settled.graph.focus()
        cards = settled.presenter.picture.cards
        return None if focus is None else {c.name or c.title for c in cards if c.key in focus}

    return ask


def test_what_leads_here_stays_and_the_rest_fades(settled, asked):
    assert asked("graph.before", "a") == {"x", "y", "a"}
    assert "2 cards lead to a" in settled.over.key.note.text()
    assert asked("graph.after", "d") == {"d", "loss"}
    settled.over.key.end_button.click()
    assert settled.graph.focus() is None
    assert settled.over.key.isHidden()


def test_the_same_question_again_shows_everything(asked):
    assert asked("graph.before", "a")
    assert asked("graph.before", "a") is None


def test_it_says_where_a_gradient_is_cut(settled, asked):
    asked("graph.cut", "y")
    assert settled.over.key.note.text() == "y is cut at detach, line 4"


def test_questions_about_the_whole_picture(settled, asked):
    path = asked("graph.critical", "x")
    assert path
    assert "slowest" in settled.over.key.note.text()
    assert settled.graph.canvas.drawing.coloring.mode == "time"
    asked("graph.bottlenecks", "y")
    assert "Every way from y to the loss passes" in settled.over.key.note.text()
    QTest.keyClick(settled.graph, Qt.Key.Key_Escape)
    assert settled.graph.focus() is None
    assert settled.graph.canvas.drawing.coloring is None


def test_what_has_no_gradient_is_left_out_and_comes_back_as_it_was(settled, asked):
    def boxes():
        return dict(settled.graph.stage().boxes)

    asked("graph.all", "x")
    before = boxes()
    asked("graph.gradient", "x")
    names = {card.name for card in settled.presenter.picture.cards}
    assert names == {"x", "y", "a", "d", "loss"}
    assert settled.over.key.note.text() == "1 card without a gradient left out"
    assert boxes().keys() < before.keys()
    assert _area(boxes()) < _area(before)
    QTest.keyClick(settled.graph, Qt.Key.Key_Escape)
    assert boxes() == before
    assert settled.over.key.isHidden()


def test_ways_light_up_one_after_the_other(settled, asked, qtbot):
    seen = []
    settled.presenter.questions.changed.connect(lambda: seen.append(settled.graph.focus()))
    assert asked("graph.ways", "x") == {"x", "a", "d", "loss"}
    lit = [len(cards) for cards in seen]
    assert lit == sorted(lit)
    assert len(set(lit)) == 4
    assert settled.over.key.note.text() == "2 ways from x to the loss; 18 + 6 = 24"
    first = asked("graph.next_way", "x")
    assert first == {"x", "a", "d", "loss"}
    assert settled.over.key.note.text() == "Way 1 of 2: mul 3 · add 1 · mul 6  = 18"
    assert asked("graph.next_way", "x") == {"x", "d", "loss"}
    assert asked("graph.next_way", "x") == {"x", "a", "d", "loss"}
    pane = next(p for p in settled.inspector.panes if type(p).__name__ == "WaysPane")
    pane.back_button.click()
    qtbot.waitUntil(lambda: settled.presenter.is_answered)
    assert settled.over.key.note.text().startswith("Way 2 of 2")


def test_the_answer_about_a_replaced_program_is_dropped(settled, asked, qtbot, record):
    settled.presenter.select_name("x")
    settled.menus.perform_by("graph.ways")
    other = "u = torch.ones(2)\nv = u * 2\n"
    settled.session.load(Doc(source=other, saved=other), tape=record(other))
    qtbot.waitUntil(lambda: settled.presenter.is_answered and settled.presenter.is_drawn)
    assert settled.graph.focus() is None
    assert settled.over.key.isHidden()


@pytest.mark.checklist(211)
def test_ways_add_up_in_the_inspector(settled, asked):
    asked("graph.ways", "x")
    pane = next(p for p in settled.inspector.panes if type(p).__name__ == "WaysPane")
    lines = [line[:3] for line in pane._rows.lines()]
    assert lines == [
        ("", "mul 3 · add 1 · mul 6", "= 18"),
        ("", "add 1 · mul 6", "= 6"),
        ("Sum", "= x.grad", "24"),
    ]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_menu_of_a_card_has_the_questions(settled, asked, qtbot):
    asked("graph.all", "a")
    key = settled.session.view.selection
    settled.graph.select(None)
    box = settled.graph.camera().box_to_view(settled.graph.stage().boxes[key])
    at = box.center().toPoint()
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, at, settled.graph.mapToGlobal(at), Qt.NoModifier
    )
    QApplication.sendEvent(settled.graph, event)
    assert settled.graph.selected() == key
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    titles = [action.text() for action in menu.actions()]
    first = titles.index("Ways to the loss")
    assert titles[first + 1] == "Next way to the loss"
    before = titles.index("What leads here")
    assert titles[before + 1] == "What follows"
    menu.actions()[before].trigger()
    menu.close()
    qtbot.waitUntil(lambda: settled.presenter.is_answered)
    assert key in settled.graph.focus()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint(), Qt.NoModifier)
    QApplication.sendEvent(settled.graph, event)
    QApplication.activePopupWidget().close()


def test_faded_cards_are_painted_paler(settled, asked):
    before = settled.graph.grab().toImage()
    asked("graph.before", "a")
    settled.graph.finish_motion()
    stage = settled.graph.stage()
    key = settled.presenter.picture.value_cards[
        next(v.id for v in settled.session.result.tape.values if v.name == "loss")
    ]
    at = settled.graph.camera().box_to_view(stage.boxes[key]).toAlignedRect()
    after = settled.graph.grab().toImage()
    assert _darkness(after.copy(at)) < _darkness(before.copy(at)) / 2


def _area(boxes):
    whole = QRectF()
    for box in boxes.values():
        whole |= box
    return whole.width() * whole.height()


def _darkness(image):
    return sum(
        255 - image.pixelColor(x, y).lightness()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    )


def test_the_answer_comes_into_view(settled, asked):
    view = settled.graph
    view.set_camera(view.camera().zoomed(6.0, QPointF(0, 0)).moved(-4000, -4000))
    asked("graph.before", "loss")
    view.finish_motion()
    seen = QRectF(QPointF(), view.canvas.size)
    boxes = [view.stage().boxes[key] for key in settled.presenter.questions.answer.cards]
    assert boxes
    assert all(seen.contains(view.camera().box_to_view(box)) for box in boxes)


@pytest.mark.checklist(209, 250)
def test_the_walk_goes_along_next_functions_and_starts_over(settled, asked):
    def step():
        settled.menus.perform_by("graph.walk")
        return settled.presenter.selected_card().name

    settled.session.select("")
    # MulBackward0 -> AddBackward0 -> MulBackward0 -> x, y; what detach cut off is not on it.
    assert asked is not None
    assert [step() for _ in range(6)] == ["loss", "d", "a", "x", "y", "loss"]


@pytest.mark.checklist(93, 209)
def test_a_next_function_in_the_inspector_selects_its_card(settled, asked):
    settled.presenter.select_name("d")
    pane = next(p for p in settled.inspector.panes if isinstance(p, BackwardNodePane))
    assert [link.text() for link in pane.links] == [
        "0  MulBackward0 of a",
        "1  AccumulateGrad of x",
    ]
    pane.links[0].click()
    assert settled.presenter.selected_card().name == "a"
    pane.links[1].click()
    assert settled.presenter.selected_card().name == "y"
