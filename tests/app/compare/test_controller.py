"""Two runs side by side over the window."""

import threading
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from gradscribe.app.commands import compare
from gradscribe.app.compare.cause_tree import MAX_LISTED
from gradscribe.app.compare.controller import CompareCard, CompareController
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build as graph_build
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.editor.diff_lines import DiffLines

BASE = "a = param(2.0)\nb = param(3.0)\nc = a * b\nd = torch.tanh(c)\nd.backward()"
OTHER = BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)")


@pytest.fixture
def comparing(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1200, 800)
    host.show()
    theming = Theming(Settings(), host)
    yield CompareController(host, theming, host)
    theming.close()


@pytest.fixture
def shown(comparing, record, qtbot):
    """Return a function from two programs to their comparison, once both pictures are there."""

    def show(left, right):
        made = comparing.show((record(left), "before"), (record(right), "after"))
        qtbot.waitUntil(lambda: all(one.view.stage().cards for one in (made.left, made.right)))
        return made

    return show


@pytest.fixture
def card(shown):
    made = shown(BASE, OTHER)
    yield made
    made.leave()


def test_no_picture_is_made_in_the_turn_that_opens_the_card(comparing, record, qtbot, monkeypatch):
    tapes = record(BASE), record(OTHER)
    made_in = []
    build = graph_build.build_picture
    here = threading.get_ident()

    def noted(*given):
        made_in.append(threading.get_ident() == here)
        return build(*given)

    monkeypatch.setattr(graph_build, "build_picture", noted)
    made = comparing.show((tapes[0], "before"), (tapes[1], "after"))
    assert True not in made_in
    qtbot.waitUntil(lambda: bool(made.left.view.stage().cards and made.right.view.stage().cards))
    assert made_in == [False, False]
    first = made.compared.differences[0]
    assert made.right.view.selected() == made.right.key_of(first)
    made.leave()


def test_both_pictures_are_shown_with_what_differs_marked(card):
    for side in (card.left, card.right):
        assert side.view.stage().cards
        assert side.view.color_key().title == "What differs"
    assert card.tree.topLevelItemCount() == len(card.compared.causes) == 1
    assert card.caption.text() == card.compared.summary()


def test_the_first_difference_is_selected_at_first(card):
    first = card.compared.differences[0]
    assert card.tree.currentItem() is card.tree.topLevelItem(0)
    assert card.left.view.selected() == card.left.key_of(first)
    assert card.right.view.selected() == card.right.key_of(first)


def test_the_position_of_one_is_the_position_of_both(card):
    at = card.compared.left.op_events[0] + 1
    card.slider.setValue(at)
    assert card.left.position == at
    assert card.right.position == card.compared.matching_position(at)
    card.slider.setValue(0)
    assert card.right.position == 0
    assert not any(look.reached for look in card.right.view.look().cards.values())


def test_moving_one_picture_moves_the_other(card):
    for one, other in ((card.left, card.right), (card.right, card.left)):
        before = other.view.camera()
        one.view.set_camera(one.view.camera().moved(40, 25))
        after = other.view.camera()
        assert (after.x - before.x, after.y - before.y) == pytest.approx((40, 25))
        one.view.zoom_by(1.5, QPointF(10, 10))
        assert other.view.camera().zoom == one.view.camera().zoom


def test_a_difference_stands_at_the_same_height_on_both_sides(card):
    one = next(d for d in card.compared.differences if d.left and d.right)
    assert card.tree.select(one)
    seen = [
        side.view.camera().box_to_view(side.view.stage().boxes[side.key_of(one)]).center()
        for side in (card.left, card.right)
    ]
    assert (seen[0].x(), seen[0].y()) == pytest.approx((seen[1].x(), seen[1].y()))


def test_a_click_on_a_card_selects_what_is_listed_of_it(card):
    last = card.compared.differences[-1]
    card.tree.select_first()
    card.left.view.picked.emit(card.left.key_of(last))
    assert card.left.key_of(card.tree.difference()) == card.left.key_of(last)


def test_runs_that_are_the_same_say_so(comparing, record):
    made = comparing.show((record(BASE), "one"), (record(BASE), "two"))
    assert made.caption.text().startswith("Both runs are the same")
    assert made.tree.isHidden()
    made.leave()


@pytest.mark.parametrize("sources", [("", ""), ("", BASE), (BASE, "a = 1")])
def test_empty_tapes_are_no_trouble(comparing, record, sources):
    made = comparing.show(*((record(source), "x") for source in sources))
    made.slider.setValue(0)
    made.slider.setValue(made.slider.maximum())
    made.leave()


def test_modules_open_on_their_own_side(shown, qtbot):
    net = "torch.manual_seed({0})\nnet = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\n"
    net += "y = net(torch.ones(1, 2)).sum()"
    made = shown(net.format(0), net.format(1))
    frame = next(iter(made.left.view.stage().frames))
    made.left.view.toggled.emit(frame)
    qtbot.waitUntil(lambda: frame not in made.left.view.stage().frames)
    assert frame in made.right.view.stage().frames
    assert made.left.view.color_key() is not None
    made.leave()


def test_the_commands_keep_a_run_and_compare_it(settled, link, record):
    assert not compare._has_both(settled.context)
    compare.keep(settled.context)
    assert compare._has_both(settled.context)
    settled.session.edit_live(OTHER)
    link.answer(record(OTHER))
    settled.show()
    shown = settled.comparison.compare_with_stored(settled.session.result.tape, "now")
    assert shown.isVisible()
    shown.leave()
    compare.show(settled.context)


LOOP = """
w = param(1.0)
for step in range(3):
    loss = (w * {factor} - 2) ** 2
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad = None
"""


def test_the_first_difference_is_looked_for_in_its_own_step(comparing, record, qtbot):
    one, other = record(LOOP.format(factor="3")), record(LOOP.format(factor="(3 + step // 1)"))
    made = comparing.show((one, "a"), (other, "b"))
    # Both are alike in the first round, and part in the second of three.
    assert made.left._scenes[1].start < made.slider.value() <= made.left._scenes[1].stop
    last = made.compared.differences[-1]
    assert made.tree.select(last)
    side = made.left if last.left is not None else made.right
    qtbot.waitUntil(lambda: bool(side.key_of(last)))
    made.leave()


def test_runs_without_any_event_can_be_shown(comparing):
    made = comparing.show((Tape(), "a"), (Tape(), "b"))
    assert not made.compared.differences
    made.leave()


def test_the_lines_that_differ_stand_below_the_titles(comparing, record):
    many = [f"    line_{i} = {i}" for i in range(5)]
    made = comparing.show((record(BASE), "a"), (record(OTHER), "b"), (["x = 1"], many))
    one, other = made.findChildren(DiffLines)
    assert [label.said() for label in one.findChildren(Label)] == ["− x = 1"]
    told = [label.said() for label in other.findChildren(Label)]
    assert told == ["+ line_0 = 0", "+ line_1 = 1", "+ line_2 = 2", "and 2 more lines"]
    made.leave()


def test_of_very_many_differences_the_first_are_listed_and_the_rest_counted(
    comparing, record, qtbot
):
    lines = "".join(f"a{n + 1} = a{n} * w\n" for n in range(520))
    one = f"w = param(1.001)\na0 = param(2.0)\n{lines}"
    made = comparing.show((record(one), "before"), (record(one.replace("1.001", "1.002")), "after"))
    try:
        (cause,) = made.compared.causes
        group = made.tree.topLevelItem(0).child(0)
        count = len(cause.groups()[0].differences)
        assert count > MAX_LISTED
        assert group.text(0) == f"{count:,} values differ because of it"
        assert group.childCount() == 0, "nothing is listed before it is opened"
        group.setExpanded(True)
        assert group.childCount() == MAX_LISTED + 1
        assert f"{count - MAX_LISTED:,} more" in group.child(MAX_LISTED).text(0)
        assert made.tree.verticalScrollBar().maximum() > 0
        made.tree.setCurrentItem(group.child(MAX_LISTED - 1))
        qtbot.waitUntil(lambda: bool(made.left.view.selected()), timeout=20_000)
        last = cause.groups()[0].differences[-1]
        made.left.view.picked.emit(made.left.key_of(last))  # marked, but not listed
    finally:
        made.leave()


BROKEN = "a = param(torch.ones(3))\nb = torch.ones({0})\nc = (a * b).sum()\nc.backward()"


def test_where_only_one_run_failed_the_failure_stands_below_its_cause(shown):
    made = shown(BROKEN.format(2), BROKEN.format(3))
    failing = next(card for card in made.left.view.stage().cards.values() if card.failed)
    cause = made.tree.topLevelItem(0)
    assert cause.text(0) == "Line 2: b 2 → 3"
    row = cause.child(0).text(0)
    assert row.startswith("The left fails because of it")
    assert "size of tensor a (3)" in row
    assert "only the left fails" in made.caption.text().lower()
    made.tree.setCurrentItem(cause.child(0))
    assert made.left.view.selected() == failing.key
    assert made.right.view.selected() == ""
    made.tree.select_first()
    made.slider.setValue(0)
    made.left.view.picked.emit(failing.key)
    assert made.tree.currentItem() is cause.child(0)
    assert made.slider.value() == made.slider.maximum()
    made.leave()


def test_what_the_colours_mean_covers_no_card(card, qtbot):
    key = card.colors
    assert key.accessibleDescription() == "Value differs, Only on this side, Gradient differs"
    place = key.mapTo(card, key.rect().topLeft())
    for side in (card.left, card.right):
        graph = side.view.rect().translated(side.view.mapTo(card, side.view.rect().topLeft()))
        assert not graph.intersects(key.rect().translated(place))
    assert key.width() >= key.sizeHint().width()


LAYERS = """
x = torch.ones(2, 2, requires_grad=True)
a = x * 2
b = a + 1
{more}c = torch.tanh(b)
{tail}"""


def seen(side, value):
    box = side.view.stage().boxes[side.card_of(value)]
    return side.view.camera().box_to_view(box).center()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("", "d = c.sum()"), ("b = torch.exp(b)\n" * 3, "d = c.sum()")),
        (("d = x.sum()\n" * 4, "c.exp()"), ("", "c @ torch.ones(3)")),
    ],
)
def test_what_only_one_has_stands_beside_where_both_were_last_the_same(shown, one, other):
    made = shown(*(LAYERS.format(more=more, tail=tail) for more, tail in (one, other)))
    alone = next(d for d in made.compared.differences if d.left is None or d.right is None)
    made.tree.setCurrentItem(None)
    assert made.tree.select(alone)
    pair = next(iter(made.compared.before(alone)))
    both = made.compared.left, made.compared.right
    names = [index.values[value].name for index, value in zip(both, pair, strict=True)]
    assert names[0] == names[1] in ("b", "c")
    left, right = (seen(side, v) for side, v in zip((made.left, made.right), pair, strict=True))
    assert (left.x(), left.y()) == pytest.approx((right.x(), right.y()))
    made.leave()


def test_the_card_is_painted_first_and_each_picture_once_it_was_made_in_turns(
    comparing, record, qtbot
):
    card, seen = comparing.show((record(BASE), "before"), (record(OTHER), "after")), []
    views = {"left": card.left.view, "right": card.right.view}
    for name, part in (("card", card), *views.items()):
        part.installEventFilter(Paints(part, name, seen))
    qtbot.waitUntil(lambda: {"left", "right"} <= set(seen))
    card_at = seen.index("card")
    for name, view in views.items():
        assert "turn" in seen[card_at : seen.index(name)]
        assert view.stage().cards
        assert view.canvas.layer.renders == 1, "it was made beforehand, and once"
    card.leave()


def test_a_card_that_is_left_before_its_pictures_are_there_is_gone(comparing, record, qtbot):
    card = comparing.show((record(BASE), "before"), (record(OTHER), "after"))
    card.leave()
    qtbot.waitUntil(lambda: not isValid(card))


class Paints(QObject):
    """Notes when a widget is painted, and when the event loop has turned since."""

    def __init__(self, watched, name, seen):
        super().__init__(watched)
        self.name, self.seen = name, seen

    def eventFilter(self, _watched, happened):
        if happened.type() == QEvent.Type.Paint:
            self.seen.append(self.name)
            QTimer.singleShot(0, self, lambda: self.seen.append("turn"))
        return False


def test_the_tree_is_read_by_keyboard_from_the_cause_to_what_follows(card, qtbot):
    tree = card.tree
    assert tree.currentItem().text(0) == "Line 4: add only on the right"
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    group = tree.currentItem()
    assert group.text(0) == "3 gradients differ because of it"
    qtbot.keyClick(tree, Qt.Key.Key_Right)
    assert group.isExpanded()
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert tree.currentItem().text(0).startswith("Gradient   a   ")
    assert card.left.view.selected() == card.left.key_of(tree.difference())


NESTED = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        return torch.log(self.lin(x).exp().sum(-1, keepdim=True)) + x
torch.manual_seed(0)
net = nn.Sequential(nn.Tanh(), nn.Sequential(Block(), Block()))
x = torch.ones(2, 3) * 2
y = net(x)
y.pow(2).mean().backward()
"""
"""The block's line is before that of x in the text, and runs after it."""


def type_over(window, line, old, new):
    """Select a piece of a line with the keyboard and type over it."""
    text = window.editor.source().split("\n")[line - 1]
    press = partial(QTest.keyClick, window.windowHandle())
    window.editor.setFocus()
    press(Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    for _ in range(line - 1):
        press(Qt.Key.Key_Down)
    press(Qt.Key.Key_End)
    for _ in range(len(text) - text.rindex(old) - len(old)):
        press(Qt.Key.Key_Left)
    for _ in old:
        press(Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    press(Qt.Key.Key_Delete)
    for letter in new:
        press(letter)


def paste_over(window, source):
    """Paste a program over the one in the editor, and let it run."""
    QGuiApplication.clipboard().setText(source)
    window.editor.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_V):
        QTest.keyClick(window.windowHandle(), key, Qt.KeyboardModifier.ControlModifier)
    window.session._rest.timeout.emit()


def choose(window, words):
    """Run a command by its words in the palette."""
    press = partial(QTest.keyClick, window.windowHandle())
    press(Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    for letter in words:
        press(letter)
    press(Qt.Key.Key_Return)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_two_runs_are_compared_by_keyboard_in_the_order_in_which_they_ran(
    settled, link, record, qtbot
):
    settled.resize(1440, 900)
    with qtbot.waitActive(settled):
        settled.show()
    paste_over(settled, NESTED)
    link.answer(record(NESTED))
    choose(settled, "Keep this run")
    assert settled.comparison.stored_title
    type_over(settled, 6, "log", "sqrt")
    type_over(settled, 9, "2", "3")
    source = settled.editor.source()
    assert source == NESTED.replace("torch.log", "torch.sqrt").replace("* 2\n", "* 3\n")
    settled.session._rest.timeout.emit()
    assert link.sources[-1] == source
    link.answer(record(source))
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(settled.windowHandle(), Qt.Key.Key_D, keys)
    (shown,) = settled.findChildren(CompareCard)
    tree = shown.tree
    rows = [tree.topLevelItem(n) for n in range(tree.topLevelItemCount())]
    assert [row.text(0) for row in rows] == [
        "Line 9: mul 2 → 3",
        "Line 6: log → sqrt in net.1.0 and 1 other module",
    ]
    assert tree.currentItem() is rows[0]
    groups = [row.child(0).text(0) for row in rows]
    assert all(text.endswith("differ because of it") for text in groups)
    assert all(row.child(0).childCount() == 0 for row in rows), "what follows is grouped"
    assert "NaN" not in "".join([*groups, *(row.text(0) for row in rows)])
    settled.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is tree)
    QTest.keyClick(settled.windowHandle(), Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    menu.close()
    next(one for one in menu.actions() if one.text() == "Copy the row").trigger()
    assert QGuiApplication.clipboard().text() == "Line 9: mul 2 → 3"
    # Down to what follows and on to the second cause, whose card is selected on both sides.
    while tree.currentItem() is not rows[1]:
        QTest.keyClick(settled.windowHandle(), Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: bool(shown.left.view.selected() and shown.right.view.selected()))
    cards = [
        next(c for k, c in side.view.stage().cards.items() if k == side.view.selected())
        for side in (shown.left, shown.right)
    ]
    assert [card.title for card in cards] == ["log", "sqrt"]
    QTest.keyClick(settled.windowHandle(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not settled.findChildren(CompareCard))


def test_what_differs_at_a_single_place_is_counted_as_differences(shown):
    one = "x = param([1.0, 2.0])\nfor _ in range(1):\n    y = x * 2 + 1\ny.sum().backward()"
    made = shown(one, one.replace("x * 2 + 1", "x.exp().log().sin()"))
    (cause,) = made.compared.causes
    assert cause.times == 1 < len(cause.differences)
    item = made.tree.topLevelItem(0)
    texts = [item.child(n).text(0) for n in range(item.childCount())]
    assert texts[0] == f"The change itself: {len(cause.differences)} differences"
    assert not any("1 place" in text for text in texts)
    made.leave()
