"""A big tensor under the hand: picture, levels, slices, numbers, and what is taken away."""

import csv
import io
import re

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.regions import Region, local_region
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.tensor import TensorSubject
from gradscribe.widgets.charts.tensor_window import TensorWindow
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.colors import rgb_of
from tests.widgets.charts.conftest import LEFT, NO_BUTTON, QEvent, QMouseEvent, QWheelEvent

NO_KEYS = Qt.KeyboardModifier.NoModifier


class TensorHand:
    """A window with a tensor of plain torch, and real events for it."""

    def __init__(self, qtbot, tensor, size=(1000, 800)):
        self.qtbot, self.tensor = qtbot, tensor
        self.window = TensorWindow()
        qtbot.addWidget(self.window)
        self.window.set_theme(Theme.load("light"))
        self.window.resize(*size)
        self.asked, self.shown = [], {}
        self.answering = True
        self.window.wanted.connect(self.answer)
        self.window.show()
        self.show(tensor)
        self.chart = self.window.chart

    def show(self, tensor, snapshot=0):
        self.tensor = self.shown[snapshot] = tensor
        kind = str(tensor.dtype).removeprefix("torch.")
        subject = TensorSubject(snapshot, tuple(tensor.shape), kind, "w", "event 3 of 9")
        self.window.show_tensor(subject)
        self.settle()

    def answer(self, request):
        self.asked.append(request)
        if self.answering:
            tensor = self.shown[request.snapshot].resolve_conj()
            self.window.show_region(local_region(request, tensor.numpy()))

    def settle(self):
        chart = self.window.chart
        self.qtbot.waitUntil(lambda: not chart._later.isActive())
        self.window.grab()

    @property
    def frame(self):
        return self.chart.view.box.geometry()

    def place(self, row, column):
        """Return the middle of a cell, in pixels of the view."""
        return self.chart._target(self.frame, (row, row + 1, column, column + 1)).center()

    def hover(self, at):
        send_mouse(self.chart.view, QEvent.Type.MouseMove, at)

    def wheel(self, at, notches=1):
        port = self.chart.view.viewport()
        delta, phase = QPoint(0, 120 * notches), Qt.ScrollPhase.NoScrollPhase
        there = port.mapToGlobal(at)
        sent = QWheelEvent(at, there, QPoint(), delta, NO_BUTTON, NO_KEYS, phase, False)
        QApplication.sendEvent(port, sent)
        self.settle()


def send_mouse(view, kind, at, button=NO_BUTTON, buttons=NO_BUTTON):
    port = view.viewport()
    QApplication.sendEvent(
        port, QMouseEvent(kind, at, port.mapToGlobal(at), button, buttons, NO_KEYS)
    )


def drag(view, start, end):
    send_mouse(view, QEvent.Type.MouseMove, start)
    send_mouse(view, QEvent.Type.MouseButtonPress, start, LEFT, LEFT)
    for share in np.linspace(0, 1, 9).tolist():
        at = start + (end - start) * share
        send_mouse(view, QEvent.Type.MouseMove, at, NO_BUTTON, LEFT)
    send_mouse(view, QEvent.Type.MouseButtonRelease, end, LEFT)


@pytest.fixture
def hand(qtbot):
    torch.manual_seed(0)
    return TensorHand(qtbot, torch.randn(1024, 768))


def test_the_whole_tensor_is_a_picture(hand):
    assert hand.chart.cells_in_sight() == (0, 1024, 0, 768)
    assert hand.chart.pixels().shape == (1024, 768, 3)
    most = hand.tensor.abs().max().item()
    assert hand.window.levels.levels == (-most, most)
    row, column = 700, 33
    share = (hand.tensor[row, column].item() + most) / (2 * most)
    want = heat.table(dark=False)[round(share * (heat.LEVELS - 1))]
    assert hand.chart.pixels()[row, column].tolist() == want.tolist()


def test_the_wheel_leads_down_to_torchs_numbers(hand):
    at = hand.place(512, 384)
    for _ in range(30):
        hand.wheel(at)
    top, bottom, left, right = hand.chart.cells_in_sight()
    assert bottom - top <= 4
    assert right - left <= 4
    hand.hover(at)
    row, column = hand.chart.cell_at(at)
    assert hand.window.readout.said() == (
        f"row {row:,}, column {column:,} · {hand.tensor.numpy()[row, column]!s}"
    )


def test_numbers_are_written_into_large_cells(hand, monkeypatch):
    written = []
    real = formatting.number
    monkeypatch.setattr(formatting, "number", lambda x: written.append(x) or real(x))
    hand.chart.look_at(100, 104, 60, 66)
    written.clear()
    hand.settle()
    inside = hand.tensor[100:104, 60:66].reshape(-1).tolist()
    assert set(inside) <= set(written)


def test_a_drag_pans_and_a_double_click_shows_all(hand):
    hand.chart.look_at(100, 200, 100, 200)
    hand.settle()
    drag(hand.chart.view, hand.frame.center(), hand.frame.center() - QPointF(0, 100))
    hand.settle()
    top, bottom, _, _ = hand.chart.in_sight()
    assert top == pytest.approx(100 + 100 * 100 / hand.frame.height(), abs=2)
    assert bottom - top == pytest.approx(100)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
        send_mouse(hand.chart.view, kind, hand.frame.center(), LEFT, LEFT)
    send_mouse(hand.chart.view, QEvent.Type.MouseButtonDblClick, hand.frame.center(), LEFT, LEFT)
    send_mouse(hand.chart.view, QEvent.Type.MouseButtonRelease, hand.frame.center(), LEFT)
    assert hand.chart.cells_in_sight() == (0, 1024, 0, 768)


def test_the_keyboard_moves_and_reads(hand):
    view = hand.chart.view
    for _ in range(30):
        QTest.keyClick(view, Qt.Key.Key_Plus)
        hand.settle()
    before = hand.chart.in_sight()
    QTest.keyClick(view, Qt.Key.Key_Right)
    after = hand.chart.in_sight()
    assert after[2] > before[2]
    top, bottom, left, right = after
    row, column = int((top + bottom) / 2), int((left + right) / 2)
    assert hand.window.readout.said().endswith(str(hand.tensor.numpy()[row, column]))
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert hand.chart.cells_in_sight() == (0, 1024, 0, 768)


def test_a_level_is_dragged_in_the_histogram_and_reset(hand):
    levels = hand.window.levels
    low, high = levels.levels
    start = levels.middle()
    drag(levels.view, start, start + QPointF(0, 60))
    assert levels.levels[0] == pytest.approx(low)
    assert levels.levels[1] < high - 0.3
    assert hand.window.high.text() == f"{levels.levels[1]:.6g}"
    hand.window.reset.click()
    assert levels.levels == (low, high)


def test_levels_are_typed_and_wrong_ones_are_refused_in_words(hand):
    window = hand.window
    window.low.selectAll()
    QTest.keyClicks(window.low, "-1.5")
    QTest.keyClick(window.low, Qt.Key.Key_Return)
    assert window.levels.levels[0] == -1.5
    for text in ("much", "1e999", "99"):
        window.low.selectAll()
        QTest.keyClicks(window.low, text)
        QTest.keyClick(window.low, Qt.Key.Key_Return)
        assert "level" in window.readout.said().lower()
        assert window.levels.levels[0] == -1.5


def test_levels_chosen_by_hand_stay_while_the_playback_moves(hand):
    hand.window.levels.set_levels(-0.5, 0.25)
    hand.show(hand.tensor * 100, snapshot=1)
    assert hand.window.levels.levels == (-0.5, 0.25)


def test_nan_and_infinities_have_colours_of_their_own_and_are_counted(qtbot):
    tensor = torch.zeros(20, 30)
    tensor[3, 4], tensor[5, 6] = float("nan"), float("-inf")
    hand = TensorHand(qtbot, tensor)
    pixels, theme = hand.chart.pixels(), hand.window.theme
    assert tuple(pixels[3, 4]) == rgb_of(theme.backward)
    assert tuple(pixels[5, 6]) == rgb_of(theme.data)
    said = hand.window.caption.said()
    assert "1 NaN" in said
    assert "1 infinity" in said


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(2.5),
        torch.arange(5000),
        torch.arange(12).reshape(3, 4) > 5,
        torch.full((30, 30), 7.0),
        torch.full((2, 2), float("nan")),
        torch.tensor([[1e300, -1e300], [5e-324, 0.0]], dtype=torch.float64),
        torch.tensor([[1.7e308, -1.7e308]], dtype=torch.float64),
        torch.tensor([[2**63 - 1, -(2**63)]]),
        torch.complex(torch.arange(6.0), -torch.arange(6.0)).reshape(2, 3).conj(),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_every_kind_of_tensor_is_drawn(qtbot, tensor):
    hand = TensorHand(qtbot, tensor, size=(500, 360))
    assert not hand.chart.words()
    assert hand.chart.pixels() is not None
    assert hand.window.part.isVisible() is tensor.is_complex()
    hand.wheel(hand.frame.center(), 30)
    hand.hover(hand.frame.center())
    row, column = hand.chart.cell_at(hand.frame.center())
    plain = (tensor.real if tensor.is_complex() else tensor).resolve_conj().numpy()
    matrix = plain.reshape((1, -1) if plain.ndim < 2 else plain.shape)
    assert hand.window.readout.said().endswith(str(matrix[row, column]))
    assert ("all finite numbers are 7" in hand.window.caption.said()) is (tensor.numel() == 900)


def test_an_empty_tensor_is_said_in_words(qtbot):
    hand = TensorHand(qtbot, torch.zeros(3, 0, 4))
    assert hand.chart.words() == "A tensor of shape (3, 0, 4) has no numbers"
    hand.wheel(QPointF(200, 100))
    hand.window.menu.copy_numbers()
    assert "no numbers" in hand.window.readout.said()


@pytest.mark.checklist(132)
def test_slices_of_a_tensor_of_rank_4(qtbot):
    hand = TensorHand(qtbot, torch.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5))
    first, second = hand.window._spins
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Up)
    second.setValue(2)
    hand.settle()
    assert hand.chart.region.exact.array().tolist() == hand.tensor[1, 2].tolist()


def test_the_parts_of_complex_numbers(qtbot):
    tensor = torch.complex(torch.randn(4, 5), torch.randn(4, 5))
    hand = TensorHand(qtbot, tensor)
    for at, want in enumerate((tensor.real, tensor.imag, tensor.abs())):
        hand.window.part.setCurrentIndex(at)
        assert np.allclose(hand.chart.region.exact.array(), want.numpy(), rtol=1e-6)


def test_the_table_has_the_tensors_numbers_to_the_bit(hand, tmp_path):
    hand.chart.look_at(10, 300, 20, 60)
    hand.settle()
    hand.window.menu.save(tmp_path / "w.csv", "csv")
    hand.qtbot.waitUntil((tmp_path / "w.csv").exists)
    rows = list(csv.reader(io.StringIO((tmp_path / "w.csv").read_text())))
    assert rows[0] == ["", *map(str, range(20, 60))]
    assert [row[0] for row in rows[1:]] == [str(row) for row in range(10, 300)]
    found = np.array([row[1:] for row in rows[1:]], np.float32)
    assert found.tobytes() == hand.tensor[10:300, 20:60].contiguous().numpy().tobytes()
    hand.window.menu.copy_numbers()
    hand.qtbot.waitUntil(lambda: "clipboard" in hand.window.readout.said())
    assert QGuiApplication.clipboard().text() == (tmp_path / "w.csv").read_text()


def test_a_table_of_a_wide_tensor_is_joined(qtbot):
    hand = TensorHand(qtbot, torch.arange(3000))
    hand.window.menu.copy_numbers()
    qtbot.waitUntil(lambda: "clipboard" in hand.window.readout.said())
    rows = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
    assert rows[1] == ["0", *map(str, range(3000))]


def test_a_table_that_is_too_large_is_refused_in_words(qtbot):
    hand = TensorHand(qtbot, torch.zeros(3000, 3000))
    hand.window.menu.copy_numbers()
    assert "zoom in" in hand.window.readout.said()


def test_the_picture_is_saved(hand, tmp_path):
    hand.window.menu.save(tmp_path / "w.png", "png")
    hand.qtbot.waitUntil((tmp_path / "w.png").exists)
    assert (tmp_path / "w.png").read_bytes().startswith(b"\x89PNG")
    hand.window.menu.save(tmp_path / "missing" / "w.png", "png")
    hand.qtbot.waitUntil(lambda: "cannot be written" in hand.window.readout.said())


def test_blocks_of_a_large_tensor_are_means(qtbot):
    hand = TensorHand(qtbot, torch.arange(5000.0 * 3000).reshape(5000, 3000) / 1e6)
    tall, wide = hand.chart.region.block
    assert tall > 1
    hand.hover(hand.place(2000, 1000))
    row, column = 2000 // tall * tall, 1000 // wide * wide
    block = hand.tensor[row : row + tall, column : column + wide].double()
    assert f"mean {formatting.number(block.mean().item())}" in hand.window.readout.said()
    hand.window.block.setCurrentIndex(2)
    assert hand.chart.numbers()[2000 // tall, 1000 // wide] == block.max().item()


def test_late_and_missing_numbers(hand):
    hand.answering = False
    hand.chart.look_at(3, 9, 3, 9)
    hand.show(hand.tensor, snapshot=4)
    request = hand.asked[-1]
    stale = Region(0, 0, request.serial - 1, (0, 0, 0, 0), problem="late")
    hand.window.show_region(stale)
    assert hand.chart.problem == ""
    why = "The numbers of this tensor are no longer there"
    hand.window.show_region(Region(0, 4, request.serial, (0, 0, 0, 0), problem=why))
    assert hand.chart.words() == why


def test_both_themes_and_small_windows(hand):
    for name in ("dark", "light"):
        hand.window.set_theme(Theme.load(name))
        for size in ((240, 180), (1600, 1000)):
            hand.window.resize(*size)
            hand.settle()
            assert not hand.window.grab().isNull()


def test_the_menu_lists_what_can_be_done(hand):
    titles = [action.text() for action in hand.window.menu.menu().actions() if action.text()]
    assert titles == [
        "Show all",
        "Show the numbers",
        "Freeze the axes",
        "Reset levels",
        "Follow playback",
        "Copy the picture",
        "Save the picture as PNG…",
        "Save the picture as SVG…",
        "Copy the numbers in sight",
        "Save the numbers in sight as CSV…",
    ]


def open_menu(view):
    """Press the right button in the middle; return the menu that opens."""
    at = view.rect().center()
    sent = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), sent)
    return QApplication.activePopupWidget()


def choose(menu, name):
    action = next(one for one in menu.actions() if one.text() == name)
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_frozen_axes_stay_under_wheel_drag_and_keys(hand):
    hand.chart.look_at(100, 200, 100, 200)
    hand.settle()
    choose(open_menu(hand.chart.view), "Freeze the axes")
    frozen = hand.chart.in_sight()
    hand.wheel(hand.frame.center())
    drag(hand.chart.view, hand.frame.center(), hand.frame.center() - QPointF(0, 100))
    QTest.keyClick(hand.chart.view, Qt.Key.Key_Right)
    assert hand.chart.in_sight() == frozen == (100, 200, 100, 200)
    hand.show(torch.randn(1024, 768), snapshot=1)
    assert hand.chart.in_sight() == frozen, "another moment of the same tensor"
    QTest.keyClick(hand.chart.view, Qt.Key.Key_Home)
    assert hand.chart.cells_in_sight() == (0, 1024, 0, 768)
    assert not hand.chart.navigation.is_frozen


def test_frozen_axes_end_with_a_tensor_of_another_shape(hand):
    hand.chart.navigation.freeze(True)
    hand.show(torch.randn(5, 4), snapshot=1)
    assert hand.chart.cells_in_sight() == (0, 5, 0, 4)
    hand.wheel(hand.frame.center())
    top, bottom, left, right = hand.chart.in_sight()
    assert (bottom - top, right - left) == (pytest.approx(4), pytest.approx(3.2))


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_menu_follows_the_playback_and_resets_the_levels(hand):
    followed = []
    hand.window.follow_changed.connect(followed.append)
    hand.window.levels.set_levels(-1, 1)
    choose(open_menu(hand.chart.view), "Follow playback")
    assert followed == [False]
    assert not hand.window.follow.isChecked()
    choose(open_menu(hand.chart.view), "Reset levels")
    assert not hand.window.levels.is_by_hand


def test_the_picture_is_saved_as_svg_with_its_levels(hand, tmp_path):
    hand.chart.look_at(0, 4, 0, 4)
    hand.settle()
    frame = hand.frame
    hand.window.menu.save(tmp_path / "w.svg", "svg")
    hand.qtbot.waitUntil((tmp_path / "w.svg").exists)
    svg = (tmp_path / "w.svg").read_text()
    assert svg.count("<image") == 2, "numbers and colours"
    written = "".join(re.findall(r">([^<>]+)</text>", svg))
    number = formatting.number(hand.tensor[1, 1].item())
    assert number in written
    assert hand.frame == frame, "the view itself stays as it is"


def test_a_tensor_without_numbers_is_saved_as_words(qtbot, tmp_path):
    hand = TensorHand(qtbot, torch.zeros(0, 3))
    hand.window.menu.save(tmp_path / "w.svg", "svg")
    hand.qtbot.waitUntil((tmp_path / "w.svg").exists)
    assert "has no numbers" in (tmp_path / "w.svg").read_text()
    hand.window.menu.save(tmp_path / "w.csv", "csv")
    hand.qtbot.waitUntil(lambda: "has no numbers" in hand.window.readout.said())
    assert not (tmp_path / "w.csv").exists()


def test_its_keys_are_claimed_from_the_windows_shortcuts(hand):
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Plus, Qt.Key.Key_Home):
        sent = QKeyEvent(QEvent.Type.ShortcutOverride, key, NO_KEYS)
        sent.ignore()
        QApplication.sendEvent(hand.chart.view, sent)
        assert sent.isAccepted()


def test_a_table_is_whole_though_another_tensor_comes_meanwhile(hand, tmp_path):
    want = hand.tensor.numpy()
    hand.window.menu.save(tmp_path / "w.csv", "csv")
    hand.show(torch.zeros(3, 3), snapshot=1)
    hand.qtbot.waitUntil((tmp_path / "w.csv").exists)
    rows = list(csv.reader(io.StringIO((tmp_path / "w.csv").read_text())))
    found = np.array([row[1:] for row in rows[1:]], np.float32)
    assert found.tobytes() == want.tobytes()


def test_a_tall_tensor_at_hand_is_read_turn_by_turn(qtbot):
    hand = TensorHand(qtbot, torch.arange(100_000).reshape(-1, 1))
    hand.window.menu.copy_numbers()
    assert "Reading" in hand.window.readout.said()
    qtbot.waitUntil(lambda: "clipboard" in hand.window.readout.said())
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[1:] == [f"{number},{number}" for number in range(100_000)]


def test_the_ground_is_that_of_the_theme_after_each_switch(hand):
    for name in ("dark", "light", "dark"):
        theme = Theme.load(name)
        hand.window.set_theme(theme)
        assert hand.window.grab().toImage().pixelColor(3, 3) == theme.panel


def test_a_low_window_leaves_its_height_to_the_picture(hand):
    hand.window.resize(260, 200)
    hand.settle()
    assert hand.chart.height() > 80
    assert not hand.window.reset.isVisible()
    hand.window.resize(600, 500)
    assert hand.window.reset.isVisible()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [5e-324, 1e-310])
def test_equal_subnormal_numbers_have_levels_and_ticks(qtbot, number):
    hand = TensorHand(qtbot, torch.full((9, 9), number, dtype=torch.float64))
    assert hand.window.levels.levels == (-number, number)
    hand.window.levels.set_levels(0, number)
    hand.window.grab()
    assert hand.window.levels.share(number) > hand.window.levels.share(0)
