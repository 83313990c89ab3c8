"""Context menus: the right button and the keyboard open them, and every entry does its work."""

import pytest
import torch
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from gradscribe.app import commands
from gradscribe.app.export.film_card import FilmCard
from gradscribe.app.window.menus.context_menus import COMMANDS
from gradscribe.engine.protocol.structs import replace
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.check import CheckPane

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
SOURCE = """torch.manual_seed(0)
x = torch.tensor([0.1, -2.0], requires_grad=True)
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
y = net(x)
loss = (y * x).sum()
loss.backward()
"""


@pytest.fixture
def shown(settled, link, record):
    settled.session.edit_live(SOURCE)
    link.answer(record(SOURCE))
    settled.clock.seek(len(settled.session.result.tape.events))
    settled.graph.finish_motion()
    return settled


def right_click(widget, at):
    """Press the right button, as Qt reports it: press, release, and the request for a menu."""
    place = widget.mapToGlobal(at)
    right, none = Qt.MouseButton.RightButton, Qt.MouseButton.NoButton
    for kind, buttons in (
        (QEvent.Type.MouseButtonPress, right),
        (QEvent.Type.MouseButtonRelease, none),
    ):
        event = QMouseEvent(kind, QPointF(at), QPointF(place), right, buttons, Qt.NoModifier)
        QApplication.sendEvent(widget, event)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, place, Qt.NoModifier)
    QApplication.sendEvent(widget, event)
    return opened()


def opened():
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    entries = {action.text(): action for action in menu.actions()}
    menu.close()
    return entries


def place_of(window, key):
    stage = window.graph.stage()
    box = stage.boxes.get(key)
    return window.graph.camera().box_to_view(box).center().toPoint()


def card(window, name):
    cards = window.presenter.picture.cards
    return next(one.key for one in cards if name in (one.name, one.title))


def clipboard():
    return QGuiApplication.clipboard().text()


def test_every_entry_is_a_command():
    known = {one.id for one in commands.load()}
    assert {name for names in COMMANDS.values() for name in names if name} <= known


def test_a_card_gives_its_value_its_code_and_its_gradient(shown):
    entries = right_click(shown.graph, place_of(shown, card(shown, "x")))
    assert shown.graph.selected() == card(shown, "x")
    entries["Copy the value"].trigger()
    assert clipboard() == "0.1\t-2.0"
    entries["Copy as code"].trigger()
    assert clipboard() == "x = torch.tensor([0.1, -2.0], requires_grad=True)"
    entries["Copy the gradient"].trigger()
    scope = {"torch": torch, "nn": torch.nn}
    exec(SOURCE, scope)
    written = [float(number) for number in clipboard().split("\t")]
    assert torch.equal(torch.tensor(written), scope["x"].grad)


def test_a_card_shows_its_line_its_rule_and_its_check(shown, link, qtbot):
    asked = []
    link.check = lambda *request: asked.append(request)
    entries = right_click(shown.graph, place_of(shown, card(shown, "loss")))
    entries["Show the line"].trigger()
    assert shown.editor.textCursor().blockNumber() + 1 == 5
    entries["Explain"].trigger()
    pane = next(p for p in shown.inspector.panes if type(p).__name__ == "ExplainPane")
    assert not pane.isHidden()
    entries = right_click(shown.graph, place_of(shown, card(shown, "x")))
    entries["Check the gradient"].trigger()
    pane = next(p for p in shown.inspector.panes if isinstance(p, CheckPane))
    qtbot.waitUntil(lambda: bool(asked))
    assert not pane.isHidden()


def test_a_module_is_folded_and_opened_from_what_is_in_it(shown, qtbot):
    key = card(shown, "tanh")
    frame = next(c.frame for c in shown.presenter.picture.cards if c.key == key)
    right_click(shown.graph, place_of(shown, key))["Fold or open the module"].trigger()
    qtbot.waitUntil(lambda: frame in shown.graph.stage().boxes)
    shown.graph.finish_motion()
    right_click(shown.graph, place_of(shown, frame))["Fold or open the module"].trigger()
    qtbot.waitUntil(lambda: frame in shown.graph.stage().frame_boxes)


def test_an_edge_gives_the_gradient_that_came_back_along_it(shown):
    picture, x = shown.presenter.picture, card(shown, "x")
    wire = next(w for w in picture.wires if w.source == x and "mul" in w.target)
    shown.session.select(wire.key)
    shown.graph.select(wire.key)
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(shown.graph, QContextMenuEvent(reason, QPoint(), QPoint()))
    opened()["Copy the gradient"].trigger()
    scope = {"torch": torch, "nn": torch.nn}
    exec(SOURCE, scope)
    written = [float(number) for number in clipboard().split("\t")]
    assert torch.equal(torch.tensor(written), scope["y"].detach())  # d (y * x) / dx through mul


def test_the_ground_offers_what_is_about_the_whole_graph(shown):
    shown.session.select("")
    entries = right_click(shown.graph, QPoint(3, shown.graph.height() - 3))
    assert {"Fit the graph", "Colour by", "Find in the graph", "Copy picture"} <= set(entries)
    assert "Copy the value" not in entries


def test_a_row_of_the_values_is_picked_and_copied(shown):
    shown.session.select("")
    table = shown.values.view
    row = next(
        n for n in range(table.model().rowCount()) if table.model().index(n, 0).data() == "x"
    )
    entries = right_click(table.viewport(), table.visualRect(table.model().index(row, 0)).center())
    assert shown.graph.selected() == card(shown, "x")
    entries["Copy the row"].trigger()
    assert clipboard().startswith("x\t")
    entries["Copy as code"].trigger()
    assert clipboard().startswith("x = torch.tensor(")


def test_an_event_of_the_ledger_is_not_gone_to_before_it_is_chosen(shown):
    view = shown.ledger.view
    view.scrollToTop()
    position = shown.session.view.position
    index = view.model().index(0, 0)
    entries = right_click(view.viewport(), view.visualRect(index).center())
    assert shown.session.view.position == position
    entries["Copy the row"].trigger()
    assert clipboard() == index.data()
    entries["Go to this event"].trigger()
    assert shown.session.view.position < position


def test_a_line_of_code_offers_its_tensor_and_the_editor(shown):
    block = shown.editor.document().findBlockByNumber(4)
    at = shown.editor.blockBoundingGeometry(block).translated(shown.editor.contentOffset()).center()
    entries = right_click(shown.editor.viewport(), QPoint(10, round(at.y())))
    assert {"Cut", "Copy", "Paste", "Comment or uncomment"} <= set(entries)
    entries["Copy the value"].trigger()
    scope = {"torch": torch, "nn": torch.nn}
    exec(SOURCE, scope)
    assert torch.tensor(float(clipboard())) == scope["loss"].detach()
    first = shown.editor.document().findBlockByNumber(0)
    top = shown.editor.blockBoundingGeometry(first).translated(shown.editor.contentOffset())
    entries = right_click(shown.editor.viewport(), QPoint(10, round(top.center().y())))
    assert "Copy the value" not in entries, "this line made no tensor"


HALF = """w = torch.tensor([1.0, 2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    opt.step()
"""
"""Gradients are added up from step to step: the doctor says so, with a fix."""


@pytest.fixture
def found(settled, link, record):
    """A window with a finding, and the card of it."""
    settled.show()
    settled.activateWindow()
    settled.session.edit_live(HALF)
    link.answer(record(HALF))
    settled.context.show_findings()
    card = settled.findings.cards()[0]
    assert card.finding.place.line > 0
    return settled, card


def test_a_finding_shows_its_line_and_copies_its_text(found):
    window, card = found
    finding = card.finding
    entries = right_click(card, QPoint(4, 4))
    entries["Copy the text"].trigger()
    lines = clipboard().splitlines()
    assert lines[0] == f"Line {finding.place.line}: {finding.title}"
    assert lines[1].startswith(finding.message)
    assert lines[2].startswith(finding.why)
    window.editor.go_to_line(1)
    entries[f"Show line {finding.place.line}"].trigger()
    assert window.editor.textCursor().blockNumber() + 1 == finding.place.line


def test_the_menu_of_a_finding_also_opens_on_its_text_and_by_keyboard(found, qtbot):
    _, card = found
    label = next(one for one in card.findChildren(Label) if one.said() == card.finding.why)
    entries = right_click(label, label.rect().center())
    assert "Copy the text" in entries
    label.setSelection(0, 9)
    entries = right_click(label, label.rect().center())
    entries["Copy the selection"].trigger()
    assert clipboard() == card.finding.why[:9]
    link_button = card.findChildren(QPushButton)[0]
    link_button.setFocus()
    qtbot.waitUntil(link_button.hasFocus)
    QTest.keyClick(link_button, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert "Copy the text" in opened()


def test_a_fix_is_applied_from_the_menu_once_it_was_tried(found):
    window, card = found
    assert not right_click(card, QPoint(4, 4))["Apply fix"].isEnabled(), "it was not tried yet"
    window.findings.settle(card.finding, replace(card.finding, tried="whole"))
    fixed = card.finding.fix
    entries = right_click(card, QPoint(4, 4))
    assert entries["Show me"].isEnabled()
    entries["Apply fix"].trigger()
    assert window.session.doc.source == fixed


def test_a_finding_explains_what_its_line_made(settled, link, record):
    source = "x = torch.tensor([-1.0], requires_grad=True)\ny = torch.log(x)\ny.sum().backward()\n"
    settled.show()
    settled.session.edit_live(source)
    link.answer(record(source))
    settled.context.show_findings()
    card = next(one for one in settled.findings.cards() if one.finding.place.line == 2)
    entries = right_click(card, QPoint(4, 4))
    entries["Explain"].trigger()
    assert settled.presenter.selected_op().op == "log"
    pane = next(p for p in settled.inspector.panes if type(p).__name__ == "ExplainPane")
    assert not pane.isHidden()
    settled.session.edit_live("# longer\n" + source)
    assert "Explain" not in right_click(card, QPoint(4, 4)), "its lines are others now"


def test_the_time_line_goes_copies_and_marks_a_film_where_it_was_pointed_at(shown):
    shown.show()
    scrubber, whole = shown.transport.scrubber, len(shown.session.result.tape.events)
    at = QPoint(scrubber.width() // 2, scrubber.height() - 12)
    position = shown.session.view.position
    entries = right_click(scrubber, at)
    assert shown.session.view.position == position, "pointing at it goes nowhere"
    entries["Copy the event number"].trigger()
    pointed = int(clipboard())
    assert 0 < pointed < whole
    entries["Begin the film here"].trigger()
    tape = shown.session.result.tape
    assert shown.context.film_span.of(tape) == (pointed, whole)
    assert f"event {pointed:,} to {whole:,}" in shown.status.message.text()
    entries[f"Go to event {pointed:,}"].trigger()
    assert shown.session.view.position == pointed
    later = right_click(scrubber, QPoint(scrubber.width() * 3 // 4, scrubber.height() - 12))
    later["End the film here"].trigger()
    first, stop = shown.context.film_span.of(tape)
    assert (first, pointed < stop < whole) == (pointed, True)
    later["Export playback as GIF…"].trigger()
    card = shown.ground.findChildren(FilmCard)[-1]
    assert (card.first.value(), card.stop.value()) == (first, stop)


def test_at_the_ends_of_the_time_line_there_is_no_film(shown, qtbot):
    shown.show()
    shown.activateWindow()
    scrubber = shown.transport.scrubber
    for position, title in ((0, "End the film here"), (None, "Begin the film here")):
        last = len(shown.session.result.tape.events)
        shown.clock.seek(last if position is None else position)
        scrubber.setFocus()
        qtbot.waitUntil(scrubber.hasFocus)
        QTest.keyClick(scrubber, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
        entries = opened()
        assert not entries[title].isEnabled()
        assert entries["Copy the event number"].isEnabled()


@pytest.mark.parametrize("place", ["graph", "editor", "values"])
def test_shift_f10_opens_the_menu_of_what_has_the_focus(shown, place, qtbot):
    shown.show()
    shown.activateWindow()
    shown.presenter.select_name("x")
    widget = {"graph": shown.graph, "editor": shown.editor, "values": shown.values.view}[place]
    if place == "values":
        widget.setCurrentIndex(widget.model().index(0, 0))
    widget.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is widget)
    QTest.keyClick(widget, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert len(opened()) > 3


def press_in(window, widget, key, qtbot, modifiers=Qt.KeyboardModifier.NoModifier):
    widget.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is widget)
    QTest.keyClick(window.windowHandle(), key, modifiers)


@pytest.mark.parametrize("name", ["x", "y", "loss"])
def test_shift_f10_opens_the_menu_of_the_row_that_the_arrow_keys_reached(shown, name, qtbot):
    shown.resize(1440, 900)
    shown.show()
    shown.activateWindow()
    view = shown.values.view
    names = [view.model().index(n, 0).data() for n in range(view.model().rowCount())]
    view.setCurrentIndex(view.model().index(0, 0))
    for _ in range(names.index(name)):
        press_in(shown, view, Qt.Key.Key_Down, qtbot)
    press_in(shown, view, Qt.Key.Key_F10, qtbot, Qt.KeyboardModifier.ShiftModifier)
    opened()["Copy the row"].trigger()
    assert clipboard().split("\t")[0] == name
    assert shown.graph.selected() == card(shown, name)


def test_shift_f10_opens_the_menu_of_the_event_that_the_arrow_keys_reached(shown, qtbot):
    shown.resize(1440, 900)
    shown.show()
    shown.activateWindow()
    shown.tables.setCurrentWidget(shown.ledger)
    view = shown.ledger.view
    view.setCurrentIndex(view.model().index(0, 0))
    for _ in range(3):
        press_in(shown, view, Qt.Key.Key_Down, qtbot)
    press_in(shown, view, Qt.Key.Key_F10, qtbot, Qt.KeyboardModifier.ShiftModifier)
    opened()["Copy the row"].trigger()
    assert clipboard() == view.model().index(3, 0).data()


def test_an_edge_is_reached_and_its_gradient_copied_by_keyboard(shown, qtbot):
    shown.resize(1440, 900)
    shown.show()
    shown.activateWindow()
    shown.presenter.select_name("loss")
    press_in(shown, shown.graph, Qt.Key.Key_Up, qtbot)
    shift = Qt.KeyboardModifier.ShiftModifier
    press_in(shown, shown.graph, Qt.Key.Key_Up, qtbot, shift)
    wire = shown.presenter.picture.wires
    chosen = next(w for w in wire if w.key == shown.graph.selected())
    assert "mul" in chosen.target
    if chosen.source != card(shown, "x"):
        press_in(shown, shown.graph, Qt.Key.Key_Right, qtbot, shift)
    chosen = next(w for w in wire if w.key == shown.graph.selected())
    assert chosen.source == card(shown, "x")
    press_in(shown, shown.graph, Qt.Key.Key_F10, qtbot, shift)
    opened()["Copy the gradient"].trigger()
    scope = {"torch": torch, "nn": torch.nn}
    exec(SOURCE, scope)
    written = [float(number) for number in clipboard().split("\t")]
    assert torch.equal(torch.tensor(written), scope["y"].detach())


def test_numbers_of_which_only_a_summary_is_here_are_refused_in_words(shown, link, record):
    source = "w = torch.randn(300, 300, requires_grad=True)\nv = w * 2"
    shown.session.edit_live(source)
    link.answer(record(source))
    shown.presenter.select_name("w")
    QGuiApplication.clipboard().setText("mine")
    shown.menus.perform_by("value.copy")
    assert clipboard() == "mine"
    assert "Only a summary" in shown.status.message.text()
