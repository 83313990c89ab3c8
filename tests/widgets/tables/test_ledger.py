import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from gradscribe.playback.tape.track import LedgerRow
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.ledger import Ledger, draw_kind

KINDS = ("leaf", "op", "enter", "leave", "backward", "node", "accumulate", "end", "step",
         "zero_grad", "print", "error")  # fmt: skip


def entries(count):
    return [LedgerRow(2 * at + 1, KINDS[at % 12], at, f"event {at}") for at in range(count)]


@pytest.fixture
def ledger(shown):
    return shown(Ledger(), 300, 400)


def visible(ledger, row):
    index = ledger.view.model().index(row, 0)
    return ledger.view.viewport().rect().contains(ledger.view.visualRect(index))


@pytest.mark.parametrize(("position", "row"), [(0, -1), (1, 0), (2, 0), (3, 1), (99, 9)])
def test_the_last_entry_that_happened_is_lit(ledger, position, row):
    ledger.set_rows(entries(10))
    ledger.set_position(5)
    ledger.set_position(position)
    assert ledger.current() == row


def test_the_lit_row_comes_into_view(ledger):
    ledger.set_rows(entries(500))
    for position in (900, 902, 3, 999):
        ledger.set_position(position)
        assert visible(ledger, ledger.current())
    ledger.set_position(0)
    assert visible(ledger, 0)


def test_a_click_tells_the_position_of_the_event(ledger, qtbot):
    ledger.set_rows(entries(10))
    index = ledger.view.model().index(3, 0)
    with qtbot.waitSignal(ledger.picked) as heard:
        QTest.mouseClick(
            ledger.view.viewport(),
            Qt.MouseButton.LeftButton,
            pos=ledger.view.visualRect(index).center(),
        )
    assert heard.args == [7]


def test_moving_the_position_picks_nothing(ledger, qtbot):
    ledger.set_rows(entries(10))
    with qtbot.assertNotEmitted(ledger.picked):
        ledger.set_position(9)


def test_twenty_thousand_rows_are_only_asked_for_as_they_are_seen(ledger, qtbot):
    asked = set()
    model = ledger.view.model()
    plain = model.data
    model.data = lambda index, role=0: asked.add(index.row()) or plain(index, role)
    ledger.set_rows(entries(20_000))
    ledger.set_position(20_001)
    ledger.grab()
    assert model.rowCount() == 20_000
    assert len(asked) < 200


def test_the_heading_counts(ledger):
    assert ledger.heading.text() == ("Events", "every event in order")
    ledger.set_rows(entries(1200))
    assert ledger.heading.text()[1] == "1,200 events"
    ledger.set_position(3)
    assert ledger.heading.text()[1] == "2 of 1,200 events"
    ledger.set_rows([])
    assert ledger.current() == -1


def test_new_rows_forget_the_old_position(ledger):
    ledger.set_rows(entries(10))
    ledger.set_position(9)
    ledger.set_rows(entries(4))
    assert ledger.current() == -1


def test_a_row_is_read_out_with_its_line(ledger):
    ledger.set_rows([LedgerRow(1, "op", 6, "add made n")])
    index = ledger.view.model().index(0, 0)
    assert index.data() == "add made n"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "add made n (line 6)"


def test_every_kind_of_event_has_a_shape_of_its_own(qtbot):
    theme = Theme.load("light")
    shapes = set()
    for kind in KINDS:
        image = QImage(24, 24, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        draw_kind(painter, theme, kind, QPointF(12, 12))
        painter.end()
        shapes.add(
            tuple(image.pixelColor(x, y).alpha() > 100 for x in range(24) for y in range(24))
        )
    assert len(shapes) == len(KINDS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_paints_in_both_themes(ledger, theme):
    ledger.set_theme(Theme.load(theme))
    ledger.set_rows([*entries(30), LedgerRow(99, "op", 0, "a" * 500)])
    ledger.set_position(20)
    assert not ledger.grab().isNull()


def test_a_ledger_that_was_hidden_follows_once_it_is_seen(ledger, qtbot):
    ledger.hide()
    ledger.set_rows(entries(500))
    ledger.set_position(401)
    assert not ledger.view.currentIndex().isValid()
    ledger.show()
    index = ledger.view.currentIndex()
    assert index.row() == ledger.current()
    assert ledger.view.viewport().rect().contains(ledger.view.visualRect(index).center())
