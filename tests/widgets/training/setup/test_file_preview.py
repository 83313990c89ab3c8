"""The columns of a file, and what each is used as."""

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.training import ColumnSummary, FileSummary
from gradscribe.widgets.training.setup.file_preview import FilePreview


def test_columns_of_one_digit_have_room_for_what_each_is_used_as(shown):
    look = shown(FilePreview(), 300, 240)
    look.show_file(FileSummary(1, "f.csv", ("a", "b"), (True, True), (("1", "2"),), 9), [], "")
    header = look.table.horizontalHeader()
    before = [header.sectionSize(column) for column in (0, 1)]
    for column in (0, 1, 1):
        header.sectionClicked.emit(column)
    words = [look.table.horizontalHeaderItem(column).text() for column in (0, 1)]
    assert words == ["a\ninput", "b\ntarget"]
    assert [header.sectionSize(column) for column in (0, 1)] == before
    assert min(before) > header.fontMetrics().horizontalAdvance("target") + 6


def described(**more):
    names = ("size", "kind", "name", "price", "rent")
    kinds = ("number", "category", "text", "number", "number")
    details = tuple(
        ColumnSummary(name, kind, f"{kind} words", choices=("number", "category"), blanks=at % 2)
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    rows = tuple(("1", "red", f"no {i}", "2", "3") for i in range(6))
    numeric = tuple(kind == "number" for kind in kinds)
    return FileSummary(
        1, "f.csv", names, numeric, rows, 6, kinds=(1, 1, 6, 1, 1), details=details,
        facts="UTF-8 · cells between commas", **more,
    )  # fmt: skip


@pytest.fixture
def look(shown):
    made = shown(FilePreview(), 320, 600)
    made.show_file(described(), ["size"], "price", {"kind": {"as": "category"}})
    made.told, made.edits = [], []
    made.chosen.connect(lambda inputs, target: made.told.append((inputs, target)))
    made.edited.connect(lambda *edit: made.edits.append(edit))
    return made


def pick(qtbot, box, text):
    """Choose an entry of a combo box with the arrow keys."""
    at = next(i for i in range(box.count()) if box.itemText(i).startswith(text))
    box.setFocus()
    before = box.currentIndex()
    for _ in range(abs(at - before)):
        qtbot.keyClick(box, Qt.Key.Key_Down if at > before else Qt.Key.Key_Up)


def test_how_the_file_is_read_and_each_column_are_in_words(look):
    assert look.facts.said() == "UTF-8 · cells between commas"
    heads = [look.table.horizontalHeaderItem(at).text() for at in range(5)]
    assert heads[0] == "size\nnumber\ninput"
    assert heads[1] == "kind\ncategory\n–"
    assert heads[3] == "price\nnumber\ntarget"
    assert look.editor.column.currentText() == "size"
    assert look.editor.words.said() == "Number words"
    look.table.setCurrentCell(0, 1)
    assert look.editor.column.currentText() == "kind"
    assert look.editor.kind.currentText() == "Categories"
    assert look.editor.missing.currentText() == "As for all: refuse"


def test_categories_may_be_inputs_and_names_may_not(look, qtbot):
    look.table.horizontalHeader().sectionClicked.emit(1)
    assert look.told[-1] == (["size", "kind"], "price")
    look.table.setCurrentCell(0, 2)
    uses = [look.editor.use.itemText(i) for i in range(look.editor.use.count())]
    assert uses == ["Left out", "Target"]


def test_space_on_a_cell_turns_its_column(look, qtbot):
    look.table.setFocus()
    look.table.setCurrentCell(0, 0)
    qtbot.keyClick(look.table, Qt.Key.Key_Right)
    qtbot.keyClick(look.table, Qt.Key.Key_Space)
    assert look.told[-1] == (["size", "kind"], "price")


def test_the_use_of_a_column_is_chosen_with_the_keyboard(look, qtbot):
    look.table.setCurrentCell(0, 1)
    pick(qtbot, look.editor.use, "Input")
    assert look.told[-1] == (["size", "kind"], "price")


def test_a_second_target_of_numbers_can_be_added(look):
    look.table.setCurrentCell(0, 4)
    uses = look.editor.use
    at = uses.findText("One more target")
    uses.setCurrentIndex(at)
    uses.activated.emit(at)
    assert look.told[-1] == (["size"], ["price", "rent"])
    assert uses.currentText() == "One more target"
    look.table.setCurrentCell(0, 1)
    assert look.editor.use.findText("One more target") == -1, "it holds text"


def test_a_kind_and_what_is_done_about_missing_values_are_chosen_and_taken_back(look, qtbot):
    look.table.setCurrentCell(0, 1)
    pick(qtbot, look.editor.kind, "As found")
    assert look.edits[-1] == ("kind", "as", "")
    pick(qtbot, look.editor.missing, "Mean")
    assert look.edits[-1] == ("kind", "missing", "mean")
    look.table.setCurrentCell(0, 0)
    assert not look.editor.missing.isEnabled(), "no value is missing"


def test_every_control_has_a_name_and_is_reached_by_tab(look, qtbot):
    look.table.setCurrentCell(0, 1)
    look.table.setFocus()
    names = []
    for _ in range(5):
        names.append(QApplication.focusWidget().accessibleName())
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert names == ["First rows of the file", "Column", "Use", "Read as", "Missing values"]


def test_the_words_of_a_bad_cell_stand_at_its_column(look):
    bad = described()
    details = (structs.replace(bad.details[0], problem="row 3 is bad"), *bad.details[1:])
    look.show_file(structs.replace(bad, details=details), ["size"], "price")
    assert look.editor.problem.said() == "row 3 is bad"
    assert look.editor.problem.isVisible()
    look.table.setCurrentCell(0, 1)
    assert not look.editor.problem.isVisible()
