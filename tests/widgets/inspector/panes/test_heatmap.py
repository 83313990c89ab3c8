import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest

from gradscribe.playback.text.formatting import fitting_number, short_number
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.heat import matrix_scale
from gradscribe.widgets.inspector.panes.heatmap import HeatmapPane, HeatView
from tests.widgets.inspector.panes.programs import FAN, ODD, named, page, taped


@pytest.fixture
def pane(shown):
    return shown(HeatmapPane(), 260, 400)


@pytest.fixture
def view(shown):
    return shown(HeatView(), 260, 400)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (0.81, ".81"), (-0.5, "−.50"), (1.0, "1"), (1.25, "1.25"), (34.56, "34.6"),
     (999.0, "999"), (12345.0, "1e4"), (1e-4, "1e-4".replace("-", "−")), (float("nan"), "NaN"),
     (float("-inf"), "−∞"), (0.999, "1.00")],
)  # fmt: skip
def test_cells_write_numbers_in_a_few_characters(number, text):
    assert short_number(number) == text


@pytest.mark.parametrize(
    ("number", "letters", "text"),
    [(-1.07, 5, "−1.07"), (-1.07, 4, "−1.1"), (-1.07, 3, "−1"), (-1.07, 1, ""), (-0.56, 3, "−.6"),
     (0.04, 2, ""), (-12.34, 4, "−12"), (123.0, 2, ""), (-0.97, 3, "−1"), (1e9, 2, ""),
     (float("-inf"), 1, "")],
)  # fmt: skip
def test_a_number_has_fewer_decimals_in_a_narrow_cell_and_is_never_made_0(number, letters, text):
    assert fitting_number(number, lambda form: len(form) <= letters) == text


def test_no_cell_with_space_for_a_sign_and_a_digit_is_left_without_its_number(view, monkeypatch):
    """The numbers of one column; the cell of the largest was the only one without."""
    written = []
    monkeypatch.setattr(
        QPainter, "drawText", lambda _self, *args: written.append(args[-1]), raising=True
    )
    column = np.array([[-0.56], [-0.64], [-1.07], [-10.31], [-0.58]])
    view.show_numbers(column, None, 10.31, None)
    view.grab()
    cells = [text for text in written if isinstance(text, str)][: column.size]
    assert len(cells) == column.size
    assert all(float(text.replace("−", "-")) < 0 for text in cells)


def test_the_scale_of_a_few_numbers_is_their_largest():
    assert matrix_scale(np.array([[1.0, -11.0, np.nan, np.inf]])) == 11
    assert matrix_scale(np.zeros((0, 3))) == 0
    assert matrix_scale(np.full((2, 2), np.nan)) == 0
    outlier = np.ones(1000)
    outlier[0] = 1e6
    assert matrix_scale(outlier) == 1


@pytest.mark.parametrize(
    ("name", "there"),
    [("bad", True), ("whole", True), ("wave", True), ("six", True), ("big", True), ("huge", True),
     ("empty", False), ("flag", False), ("tiny", False)],
)  # fmt: skip
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_tensor_of_two_numbers_or_more_has_a_heatmap(pane, name, there, theme):
    pane.set_theme(Theme.load(theme))
    assert pane.show_page(page(ODD, name)) is there
    assert not pane.view.grab().isNull()


def test_scalars_and_missing_numbers_have_none(pane):
    assert not pane.show_page(page(FAN, "x"))
    assert not pane.show_page(page(ODD, "whole", 1))


def test_the_slice_asked_for_is_shown(pane):
    pane.show_page(page(ODD, "six", slices=(1, 2, 1, 3)))
    numbers = np.arange(288.0).reshape(2, 3, 2, 4, 3, 2)[1, 2, 1, 3]
    np.testing.assert_array_equal(pane.view.numbers, numbers)


def test_a_click_on_a_cell_chooses_its_element(pane, qtbot):
    pane.show_page(page(ODD, "six", slices=(1, 2, 1, 3)))
    wide, high = pane.view.cell(pane.view.width())
    spot = QPoint(round(wide * 1.5), round(high * 2.5))
    with qtbot.waitSignal(pane.element_requested) as heard:
        QTest.mouseClick(pane.view, Qt.MouseButton.LeftButton, pos=spot)
    flat = np.arange(288).reshape(2, 3, 2, 4, 3, 2)[1, 2, 1, 3, 2, 1]
    assert heard.args == [flat]
    pane.show_page(page(ODD, "six", slices=(1, 2, 1, 3), element=int(flat)))
    assert pane.view.chosen == (2, 1)


def test_a_sampled_picture_has_no_elements_to_choose(pane, qtbot):
    pane.show_page(page(ODD, "big"))
    with qtbot.assertNotEmitted(pane.element_requested):
        QTest.mouseClick(pane.view, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 1), (30, 30), (1000, 1000), (3, 2)])
@pytest.mark.parametrize("width", [120, 260, 700])
def test_cells_fit_the_width_and_a_bounded_height(view, shape, width):
    view.show_numbers(np.zeros(shape), None, 1.0, None)
    wide, high = view.cell(width)
    assert 0 < wide * shape[1] <= width + 1e-6
    assert 0 < high * shape[0] <= 300 + 1e-6
    assert view.heightForWidth(width) >= high * shape[0]


def test_points_are_found_in_their_cells(view):
    view.show_numbers(np.zeros((4, 6)), None, 1.0, None)
    wide, high = view.cell(view.width())
    for row in range(4):
        for column in range(6):
            point = QPointF((column + 0.5) * wide, (row + 0.5) * high)
            assert view.at(point) == (row, column)
    assert view.at(QPointF(6 * wide + 2, 5)) is None
    assert view.at(QPointF(-3, 5)) is None


def test_signs_differ_in_colour_and_what_is_not_finite_in_pattern(view):
    theme = Theme.load("light")
    view.set_theme(theme)
    view.show_numbers(np.array([[1.0, -1.0, 0.0]]), None, 1.0, None)
    blue, orange = view.fill(1.0), view.fill(-1.0)
    assert blue.blue() > blue.red()
    assert orange.red() > orange.blue()
    assert view.hatch(0.0).style() == Qt.BrushStyle.NoBrush
    patterns = {view.hatch(x).style() for x in (0.0, float("nan"), float("inf"))}
    assert len(patterns) == 3


def test_pale_cells_of_a_big_matrix_carry_no_number(view):
    view.show_numbers(np.ones((8, 8)), None, 1.0, None)
    assert view.shows_number(0.5)
    assert not view.shows_number(0.01)
    assert view.shows_number(float("nan"))
    view.show_numbers(np.ones((2, 2)), None, 1.0, None)
    assert view.shows_number(0.0)


def test_no_cell_is_painted_beside_the_view(view):
    view.show_numbers(np.zeros((0, 3)), None, 0.0, None)
    assert view.cell(200) == (0.0, 0.0)
    assert view.at(QPointF(1, 1)) is None
    assert not view.grab().isNull()


def test_cells_are_worked_out_when_they_change_and_copied_otherwise(qtbot, monkeypatch):
    view = HeatView()
    qtbot.addWidget(view)
    view.resize(220, 200)
    numbers = np.linspace(-1, 1, 36).reshape(6, 6)
    view.show_numbers(numbers, numbers, 1.0, None)
    first = view.grab().toImage()
    asked = []
    monkeypatch.setattr(view, "fill", lambda x: (asked.append(x), HeatView.fill(view, x))[1])
    assert view.grab().toImage() == first
    assert not asked
    view.show_numbers(numbers, numbers, 1.0, (2, 3))
    chosen = view.grab().toImage()
    assert chosen != first
    assert len(asked) == numbers.size
    view.show_numbers(-numbers, -numbers, 1.0, (2, 3))
    assert view.grab().toImage() != chosen
    before = view.grab().toImage()
    view.set_theme(Theme.load("dark"))
    assert view.grab().toImage() != before


ATTENTION = """
tokens = ["the", "cat", "sat"]
q = param(torch.randn(2, 3, 3))
att = (q * 3).softmax(-1)
y = (att @ torch.ones(3, 2)).sum()
y.backward()
"""


def strongest(head, row):
    weights = named(taped(ATTENTION), "att")
    numbers = taped(ATTENTION).snapshots[weights.snapshot].array()[head][row]
    words = ["the", "cat", "sat"]
    return f"“{words[row]}” looks at “{words[int(numbers.argmax())]}” with {numbers.max():.2f}"


def spot(view, row, column):
    wide, high = view.cell(view.width())
    left = view.names.left(view.width()) if view.names is not None else 0
    return QPoint(round(left + wide * (column + 0.5)), round(high * (row + 0.5)))


@pytest.mark.parametrize("head", [0, 1])
def test_an_attention_map_says_at_which_column_its_last_row_looks(pane, head):
    pane.show_page(page(ATTENTION, "att", slices=(head,)))
    assert pane.sentence.isVisible()
    assert pane.sentence.said() == strongest(head, 2)
    assert pane.view.accessibleDescription() == strongest(head, 2)
    assert pane.view.names.rows == ("the", "cat", "sat")


def test_the_row_under_the_mouse_is_described_while_it_is_there(pane):
    pane.show_page(page(ATTENTION, "att"))
    QTest.mouseMove(pane.view, spot(pane.view, 1, 0))
    assert pane.sentence.said() == strongest(0, 1)
    assert pane.view.row == 1
    QTest.mouseMove(pane.view, spot(pane.view, 0, 2))
    assert pane.sentence.said() == strongest(0, 0)
    pane.view.leaveEvent(QEvent(QEvent.Type.Leave))
    assert pane.sentence.said() == strongest(0, 2)


def test_the_row_of_the_chosen_element_is_described(pane, qtbot):
    pane.show_page(page(ATTENTION, "att"))
    with qtbot.waitSignal(pane.element_requested) as heard:
        QTest.mouseClick(pane.view, Qt.MouseButton.LeftButton, pos=spot(pane.view, 1, 1))
    assert heard.args == [4]
    pane.show_page(page(ATTENTION, "att", element=4))
    assert pane.view.chosen == (1, 1)
    pane.view.leaveEvent(QEvent(QEvent.Type.Leave))
    assert pane.sentence.said() == strongest(0, 1)


def test_a_gradient_of_weights_has_names_and_no_sentence(pane):
    pane.show_page(page(ATTENTION, "att", side="gradient"))
    assert pane.view.names.rows == ("the", "cat", "sat")
    assert not pane.looks.isVisible()


def test_another_matrix_has_neither(pane):
    pane.show_page(page(ATTENTION, "att"))
    pane.show_page(page(ATTENTION, "q"))
    assert pane.view.names is None
    assert not pane.looks.isVisible()


def test_without_a_list_of_that_length_rows_are_numbered(pane):
    pane.show_page(page(ATTENTION.replace('"sat"]', '"sat", "on"]'), "att"))
    assert pane.view.names.rows == ("0", "1", "2")
    assert pane.sentence.said().startswith("Row 2 looks at column ")


@pytest.mark.parametrize(
    ("keys", "flat"),
    [
        ((Qt.Key.Key_Down,), 2),
        ((Qt.Key.Key_Right,), 1),
        ((Qt.Key.Key_Up,), 0),
        ((Qt.Key.Key_Left,), 0),
        ((Qt.Key.Key_Down, Qt.Key.Key_Right), 3),
    ],
)
def test_arrow_keys_choose_the_neighbour(pane, keys, flat):
    slices, at = (0, 0, 0, 0), 0
    heard = []
    pane.element_requested.connect(heard.append)
    for key in keys:
        pane.show_page(page(ODD, "six", slices=slices, element=at))
        QTest.keyClick(pane.view, key)
        at = heard[-1]
    assert at == flat


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [120, 206, 700])
def test_a_named_map_fits_its_width(pane, theme, width):
    pane.set_theme(Theme.load(theme))
    pane.show_page(page(ATTENTION, "att"))
    wide, high = pane.view.cell(width)
    left = pane.view.names.left(width)
    assert left + 3 * wide <= width + 1e-6
    assert pane.view.heightForWidth(width) >= 3 * high
    assert not pane.view.grab().isNull()
