"""The matrix counts training and validation apart, and each cell shows its examples."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from gradscribe.engine.protocol.training import ViewReply
from gradscribe.widgets.plots.training_view import ShownRun
from gradscribe.widgets.plots.views.cell_examples import examples_of
from gradscribe.widgets.plots.views.confusion import ENTRY, ConfusionMatrix
from tests.app.training.fakes import array, begun, data
from tests.widgets.pixels import near

TRAIN, VAL = np.array([[5, 1], [2, 7]]), np.array([[2, 1], [0, 2]])
NAMES = ("cat", "dog")


@pytest.fixture
def plot(shown, look):
    made = shown(ConfusionMatrix(), 320, 260)
    made.show_parts({"train": TRAIN, "val": VAL}, NAMES)
    look(made)
    yield made
    made.clear()


def test_names_have_the_same_size_in_all_rows(plot):
    plot.show_parts({"train": TRAIN}, ("strap", "strap"))
    picture = plot.canvas.grab().toImage()
    first, second = plot.place_of((0, 0)), plot.place_of((1, 0))
    cell = first.x() - (plot.place_of((0, 1)).x() - first.x()) / 2

    def columns(row):
        """Return the columns of pixels with parts of a row's name."""
        rows = range(round(row.y()) - 15, round(row.y()) + 15)
        seen = ({picture.pixel(x, y) for y in rows} for x in range(round(cell) - 4))
        return [x for x, colors in enumerate(seen) if len(colors) > 1]

    assert columns(first)
    assert columns(first) == columns(second)


def choose(plot, part):
    plot.part.setCurrentIndex(plot.part.findData(part))


@pytest.mark.parametrize(
    ("part", "words"), [("both", "16 of 20"), ("train", "12 of 15"), ("val", "4 of 5")]
)
def test_each_part_of_the_data_is_counted(plot, part, words):
    choose(plot, part)
    assert plot.accessibleDescription().endswith(f"{words} right")


def test_the_part_stays_as_the_run_goes_on(plot):
    choose(plot, "val")
    plot.show_parts({"train": TRAIN, "val": np.array([[3, 0], [0, 2]])}, NAMES)
    assert plot.accessibleDescription().endswith("5 of 5 right")


def test_nothing_is_counted_before_there_is_an_answer(plot):
    plot.clear()
    assert plot.accessibleDescription() == "rows are the truth, columns the answer"


def click(plot, cell):
    QTest.mouseClick(plot.canvas, Qt.MouseButton.LeftButton, pos=plot.place_of(cell).toPoint())


def reply(rows, x, **more):
    arrays = {"train": array(TRAIN, "<i8"), "val": array(VAL, "<i8"), "rows": array(rows, "<i8")}
    return ViewReply(1, "confusion", 3, {**arrays, "x": x, **more})


def shown_run():
    return ShownRun(begun(1, None), data(1))


def test_a_click_on_a_cell_asks_for_its_examples_and_shows_them(plot, qtbot):
    assert plot.options() == {}
    with qtbot.waitSignal(plot.wished):
        click(plot, (1, 0))
    assert plot.options() == {"part": "both", "true": 1, "answer": 0}
    assert plot.examples.heading.said() == "2 of dog taken for cat · all data"
    run = shown_run()
    message = reply(
        [4, 17], array([[0.5, -1.0], [2.0, 3.0]], "<f4"), sure=array([0.75, 0.5], "<f4")
    )
    plot.show_examples(run, message)
    table = plot.examples.table
    assert [table.horizontalHeaderItem(at).text() for at in range(4)] == ["Row", "x1", "x2", "Sure"]
    cells = [[table.item(row, at).text() for at in range(4)] for row in range(2)]
    assert cells == [["4", "0.500", "−1.000", "75 %"], ["17", "2.000", "3.000", "50 %"]]
    assert plot.examples.note.said() == "all of them, as the model answers at this step"


def test_the_same_window_shows_the_next_cell_and_escape_closes_it(plot, qtbot):
    click(plot, (1, 0))
    window = plot.examples
    click(plot, (0, 0))
    assert plot.examples is window
    assert window.heading.said().startswith("7 of cat recognized")
    with qtbot.waitSignal(plot.wished):
        QTest.keyClick(window, Qt.Key.Key_Escape)
    assert plot.examples is None
    assert plot.options() == {}


def test_arrows_choose_a_cell_and_return_opens_it(plot, look):
    plot.canvas.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(plot.canvas, key)
    assert plot.cell == (1, 1)
    assert plot.canvas.accessibleDescription() == "9 of dog recognized"
    assert near(look(plot), plot.theme.selection) > 20
    QTest.keyClick(plot.canvas, Qt.Key.Key_Up)
    QTest.keyClick(plot.canvas, Qt.Key.Key_Return)
    assert plot.options() == {"part": "both", "true": 0, "answer": 1}


def test_other_keys_stay_with_the_window(plot):
    seen = []
    plot.host.keyPressEvent = lambda happened: seen.append(happened.key())
    QTest.keyClick(plot.canvas, Qt.Key.Key_Space)
    assert plot.cell is None


def test_a_run_that_begins_closes_the_examples(plot):
    click(plot, (1, 0))
    ENTRY.begin(plot, begun(1, None))
    assert plot.examples is None
    assert plot.cell_at(QPointF(150, 100)) is None


def test_pictures_and_sequences_are_shown_as_such():
    x = array(np.arange(2 * 1 * 4 * 4).reshape(2, 1, 4, 4), "<f4")
    found = examples_of(shown_run(), reply([1, 2], x), NAMES)
    assert found.header == ("Row",)
    assert found.rows[0].picture.tolist()[0][0] == 0
    assert found.rows[0].picture.tolist()[3][3] == 255
    tokens = array([[0, 1, 1]], "<i8")
    given = array([[0, 0, 7]], "<i8")
    found = examples_of(shown_run(), reply([1], tokens, wanted=tokens, given=given), NAMES)
    assert found.header == ("Row", "Input", "Wanted", "Given")
    assert found.rows[0].texts == ("1", "cat dog dog", "cat dog dog", "cat cat 7")


def test_a_cell_without_examples_says_so(plot):
    click(plot, (0, 1))
    plot.show_examples(shown_run(), reply([], array(np.zeros((0, 2)), "<f4")))
    assert plot.examples.note.said() == "There is no such example at this step"
    assert plot.examples.table.rowCount() == 0
