"""Data of one's own: points drawn into the set-up."""

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt

from gradscribe.app.training.setup import own_data
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import Advice
from tests.app.training.fakes import array, boundary
from tests.app.training.fakes import begun as made


def test_points_are_drawn_into_the_setup(room, begun):
    assert isinstance(room.presenter.own, own_data.OwnData)
    begun.controller.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    assert room.boundary.editable
    room.boundary.drawn.emit(0.25, -0.5, 1)
    assert begun.setup.data.options["points"] == [[0.0, 0.0, 1], [0.25, -0.5, 1]]
    room.boundary.moved.emit(0, 1.0, 1.0)
    room.boundary.removed.emit(1)
    assert begun.setup.data.options["points"] == [[1.0, 1.0, 1]]
    begun.controller.change(Setup())
    assert not room.boundary.editable


def test_points_of_a_set_up_that_is_there_before_the_engine_can_be_drawn(room, begun):
    known, begun.store.catalogue = begun.store.catalogue, None
    begun.controller.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    begun.on_message(known)
    assert room.boundary.editable
    assert room.boundary.brushes.isVisible()
    room.boundary.drawn.emit(0.25, -0.5, 1)
    assert begun.setup.data.options["points"] == [[0.0, 0.0, 1], [0.25, -0.5, 1]]


def told(rows):
    """Points as the engine reports them, as float32."""
    rows = np.array(rows)
    x, y = rows[:, :-1], rows[:, -1]
    y = array(y, "<i8") if rows.shape[1] == 3 else array(y[:, None], "<f4")
    return messages.DataSample(1, array(x, "<f4"), y, array(np.ones(len(rows)), "|b1"))


def test_a_class_of_points_is_given_a_name(room, begun, train_link):
    drawn = Setup(data=Part("points", {"points": [[0.0, 0.0, 0], [1.0, 1.0, 1], [2.0, 0.0, 2]]}))
    begun.controller.change(drawn)
    train_link.received.emit(replace(made(1, drawn), classes=("0", "1", "2")))
    room.boundary.named.emit(2, "a, b  c")
    assert begun.setup.data.options["names"] == ", , a b c"
    room.boundary.named.emit(0, "first")
    assert begun.setup.data.options["names"] == "first, , a b c"
    lines = room.presenter._session.run.begun.lines
    told = messages.SetupChanged(1, 0, ("data",), lines=lines, classes=("first", "1", "a b c"))
    train_link.received.emit(told)
    assert begun.run.begun.classes == told.classes
    assert room.boundary._points.names == ("first", "class 1", "a b c")
    assert [room.boundary.brushes.itemText(i) for i in range(4)] == [
        "first",
        "class 1",
        "a b c",
        "class 3",
    ]
    room.boundary.drawn.emit(0.5, 0.5, 1)
    # Until the engine tells of the point, too.
    assert room.boundary._points.names == ("first", "class 1", "a b c")
    for kind in (2, 0):
        room.boundary.named.emit(kind, "")
    assert begun.setup.data.options["names"] == ""


def test_of_points_taken_away_quickly_none_is_another_than_the_one_clicked(room, begun, train_link):
    rows = [[x / 10, 0.1, 1] for x in range(6)]
    drawn = Setup(data=Part("points", {"points": rows}))
    begun.controller.change(drawn)
    train_link.received.emit(made(1, drawn))
    train_link.received.emit(told(rows))
    left = list(rows)
    for number in (1, 1, 2):
        room.boundary.removed.emit(number)
        del left[number]
        assert np.allclose(room.boundary._points.x, [row[0] for row in left])
        # What was asked before is told only now.
        train_link.received.emit(told(rows))
        assert np.allclose(room.boundary._points.x, [row[0] for row in left])
    assert begun.setup.data.options["points"] == left


def test_points_on_a_curve_are_shown_as_they_are_drawn_by_now(room, begun, train_link):
    rows = [[-1.0, 0.0], [0.0, 0.5], [1.0, 1.0]]
    drawn = Setup(data=Part("points_line", {"points": rows}))
    begun.controller.change(drawn)
    train_link.received.emit(made(1, drawn, task="regression"))
    train_link.received.emit(told(rows))
    room.fit.removed.emit(0)
    train_link.received.emit(told(rows))
    room.fit.removed.emit(0)
    assert begun.setup.data.options["points"] == [[1.0, 1.0]]
    assert room.fit._x.tolist() == [1.0]


def test_without_points_the_picture_is_empty_and_nothing_trains(room, begun, train_link):
    drawn = Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]}))
    begun.controller.change(drawn)
    begun.controller.play()
    begun.controller.change(replace(drawn, data=Part("points", {"points": []})))
    assert train_link.last(messages.Pause) is not None
    assert not begun.controller.plays
    train_link.received.emit(boundary(1))
    assert room.boundary._ground is None, "a late picture of what was there"
    assert not len(room.boundary._points)
    room.boundary.drawn.emit(0.25, -0.5, 1)
    assert begun.setup.data.options["points"] == [[0.25, -0.5, 1]]
    assert begun.controller.plays
    assert room.boundary._ground is not None


def test_what_is_said_fills_the_plane_that_one_draws_on(room, begun, train_link):
    begun.controller.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    train_link.received.emit(boundary(1))
    room.presenter.want()
    (wish,) = (w for w in train_link.last(messages.WatchViews).wishes if w.kind == "boundary")
    assert wish.options["around"] == list(room.boundary.domain)
    begun.controller.change(Setup())
    room.presenter.want()
    (wish,) = (w for w in train_link.last(messages.WatchViews).wishes if w.kind == "boundary")
    assert "around" not in wish.options


def test_points_on_a_curve_have_no_class(room, begun):
    begun.controller.change(Setup(data=Part("points_line")))
    room.fit.drawn.emit(0.5, 0.25, 0)
    assert begun.setup.data.options["points"] == [[-1.0, 0.0], [1.0, 1.0], [0.5, 0.25]]
    room.fit.moved.emit(2, 0.6, 0.3)
    assert begun.setup.data.options["points"][2] == [0.6, 0.3]


def looked(**more):
    columns, numeric = ("a", "b", "kind"), (True, True, False)
    rows = tuple(("1", "2", name) for name in "xyzx")
    return messages.FileSummary(1, "f.csv", columns, numeric, rows, 4, kinds=(1, 1, 3), **more)


def test_a_last_column_of_a_few_words_is_learned_as_classes(begun, room, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    train_link.received.emit(looked())
    options = begun.setup.data.options
    assert (options["inputs"], options["target"]) == (["a", "b"], "kind")
    assert options["classes"] is True
    assert begun.setup.standardize


def test_a_column_in_which_every_cell_differs_is_no_target():
    names = tuple((str(i), f"name {i}") for i in range(8))
    found = messages.FileSummary(1, "f.csv", ("a", "who"), (True, False), names, 8, kinds=(8, 8))
    assert own_data.default_columns(found) == ([], "")


def test_whether_the_first_row_names_columns_is_found_and_can_be_told(begun, room, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    assert train_link.last(messages.InspectFile).header is None
    train_link.received.emit(looked(header=False))
    assert begun.setup.data.options["header"] is False
    train_link.sent.clear()
    options = {**begun.setup.data.options, "header": True}
    begun.controller.change(replace(begun.setup, data=Part("csv", options)))
    assert train_link.last(messages.InspectFile).header is True
    train_link.received.emit(looked())
    assert begun.setup.data.options["header"] is True


def detailed(**more):
    """A table of which the engine says how each column is understood."""
    names = ("size", "kind", "sold", "who", "price")
    kinds = ("number", "category", "days", "text", "number")
    details = tuple(
        messages.ColumnSummary(name, kind, choices=(kind, "category"), words=kind, blanks=1)
        for name, kind in zip(names, kinds, strict=True)
    )
    numeric = tuple(kind == "number" for kind in kinds)
    rows = tuple(("1", "x", "2024-01-01", f"no {i}", "2") for i in range(9))
    return messages.FileSummary(
        1, "f.csv", names, numeric, rows, 9, kinds=(1, 1, 1, 9, 1), details=details, **more
    )


def test_categories_and_dates_are_inputs_until_others_are_chosen(begun, room, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    train_link.received.emit(detailed())
    options = begun.setup.data.options
    assert (options["inputs"], options["target"]) == (["size", "kind", "sold"], "price")
    assert options["classes"] is False


def test_a_choice_for_a_column_is_part_of_the_setup_and_the_file_is_looked_into_again(
    begun, room, train_link
):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    train_link.received.emit(detailed())
    train_link.sent.clear()
    room.file.edited.emit("sold", "as", "date parts")
    assert begun.setup.data.options["columns"] == {"sold": {"as": "date parts"}}
    asked = train_link.last(messages.InspectFile)
    assert (asked.header, asked.options["columns"]) == (True, {"sold": {"as": "date parts"}})
    room.file.edited.emit("sold", "missing", "mean")
    room.file.edited.emit("sold", "as", "")
    assert begun.setup.data.options["columns"] == {"sold": {"missing": "mean"}}
    room.file.edited.emit("sold", "missing", "")
    assert begun.setup.data.options["columns"] == {}
    train_link.sent.clear()
    begun.controller.change(replace(begun.setup, steps=7))
    assert train_link.last(messages.InspectFile) is None, "it is read as before"


def test_a_short_choice_of_a_setup_file_is_edited_too(begun, room, train_link):
    given = {"path": "f.csv", "columns": {"sold": "date parts"}}
    begun.controller.change(Setup(data=Part("csv", given)))
    train_link.received.emit(detailed())
    room.file.edited.emit("sold", "missing", "mean")
    assert begun.setup.data.options["columns"] == {"sold": {"as": "date parts", "missing": "mean"}}


def test_several_targets_of_a_text_or_a_list(begun, room, train_link):
    for target in (["size", "price"], "size, price"):
        given = {"path": "f.csv", "inputs": ["kind"], "target": target}
        begun.controller.change(Setup(data=Part("csv", given)))
        train_link.received.emit(detailed())
        assert begun.setup.data.options["target"] == target
        heads = [room.file.table.horizontalHeaderItem(at).text() for at in (0, 4)]
        assert [head.split("\n")[-1] for head in heads] == ["target", "target"]
    room.file.chosen.emit(["kind"], ["size", "price"])
    assert begun.setup.data.options["classes"] is False


def test_a_date_as_target_is_learned_as_days(begun, room, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    train_link.received.emit(detailed())
    room.file.chosen.emit(["size"], "sold")
    options = begun.setup.data.options
    assert (options["classes"], options["columns"]) == (False, {"sold": {"as": "days"}})


def test_the_target_can_be_left_out_again(begun, room, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    train_link.received.emit(looked())
    room.file.table.horizontalHeader().sectionClicked.emit(2)
    assert begun.setup.data.options["target"] == ""
    assert begun.setup.data.options["inputs"] == ["a", "b"]


def test_what_is_wrong_with_a_file_is_said_once(begun, room, train_link):
    chosen = {"path": "old.csv", "inputs": ["size"], "target": "price"}
    begun.controller.change(Setup(data=Part("csv", chosen)))
    begun.controller.change(Setup(data=Part("csv", {**chosen, "path": "f.csv"})))
    missing = messages.TrainProblem(1, Problem("BadSetup", "no column 'size'"), "data")
    bad = messages.FileSummary(1, "f.csv", problem=Problem("CSV", "f.csv: row 3 has 1 cells"))
    for order in ((missing, bad), (bad, missing)):
        for message in order:
            train_link.received.emit(message)
        assert room.file.problem.text().startswith("f.csv: row 3")
        assert room.file.problem.isVisible()
        assert not room.form.parts["data"].note.text()


def complaints(room):
    """All that is said to be wrong with the data."""
    part = room.form.parts["data"]
    labels = [part.note, *(row.note for row in part.by_name.values() if "note" in row.__dict__)]
    return [one.said() for one in labels if one.isVisible() and one.said()]


def asked(room, name):
    """Questions at an option of the data."""
    row = room.form.parts["data"].by_name[name]
    return row.asked.said() if row.asked.isVisible() else ""


def complain(link, place, words):
    link.received.emit(messages.TrainProblem(1, Problem("BadSetup", words), place))


def test_what_was_not_chosen_yet_is_asked_for_and_no_mistake(begun, room, train_link):
    no_inputs = ("data.inputs", "name columns: data.inputs is empty")
    begun.controller.change(Setup(data=Part("csv")))
    complain(train_link, "data.path", "choose a file")
    assert (complaints(room), asked(room, "path")) == ([], "Choose a file")
    begun.controller.change(Setup(data=Part("csv", {"path": "f.csv"})))
    complain(train_link, *no_inputs)
    assert (complaints(room), asked(room, "path")) == ([], "")
    train_link.received.emit(looked())
    assert begun.setup.data.options["inputs"] == ["a", "b"]
    # Of the setup as it was before the columns were chosen.
    complain(train_link, *no_inputs)
    assert (complaints(room), asked(room, "target")) == ([], "")
    room.file.chosen.emit([], "kind")
    complain(train_link, *no_inputs)
    assert "input column" in asked(room, "target")
    room.file.chosen.emit(["a"], "")
    complain(train_link, "data.target", "name columns: data.target is empty")
    assert (complaints(room), "target column" in asked(room, "target")) == ([], True)
    train_link.received.emit(messages.SetupChanged(1, 0, ("data",)))
    assert asked(room, "target") == ""


def test_columns_that_cannot_be_are_a_mistake(begun, room, train_link):
    begun.controller.change(
        Setup(data=Part("csv", {"path": "f.csv", "inputs": ["a"], "target": "b"}))
    )
    complain(train_link, "data.inputs", "data.inputs is 3, not a list")
    train_link.received.emit(looked())
    assert complaints(room) == ["data.inputs is 3, not a list"]
    complain(train_link, "data.path", "there is no file f.csv")
    assert complaints(room) == ["there is no file f.csv"]


def test_a_file_that_changed_is_read_again_when_one_asks_for_it(begun, room, train_link, tmp_path):
    path = str(tmp_path / "f.csv")
    options = {"path": path, "inputs": ["a"], "target": "b", "header": True}
    begun.controller.change(Setup(data=Part("csv", options)))
    found = replace(looked(), path=path)
    train_link.received.emit(found)
    train_link.sent.clear()
    (tmp_path / "f.csv").write_text("a,b\n1,2\n")
    room.presenter.own.watch.check()
    assert room.file.change_words.said() == "File changed"
    assert not train_link.sent, "nothing changes under a run by itself"
    room.file.again.emit()
    assert not room.file._change.isVisible()
    assert train_link.last(messages.InspectFile).path == path
    assert train_link.last(messages.ChangeSetup) is None, "not before one knows what is in it"
    train_link.received.emit(found)
    assert train_link.last(messages.ChangeSetup).reread
    assert train_link.last(messages.ChangeSetup).setup == begun.setup


def test_a_file_that_went_bad_leaves_the_run_alone(begun, room, train_link, tmp_path):
    path = str(tmp_path / "f.csv")
    begun.controller.change(Setup(data=Part("csv", {"path": path, "inputs": ["a"], "target": "b"})))
    train_link.received.emit(replace(looked(), path=path))
    room.file.again.emit()
    train_link.sent.clear()
    bad = messages.FileSummary(1, path, problem=Problem("OSError", "f.csv is a folder"))
    train_link.received.emit(bad)
    assert train_link.last(messages.ChangeSetup) is None
    assert begun.run.alive


def test_points_of_more_than_two_classes_are_drawn(room, begun, qtbot):
    begun.controller.change(Setup())
    assert not room.boundary.brushes.isVisible()
    begun.controller.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    assert room.boundary.brushes.isVisible()
    assert room.boundary.held_back.isVisible()
    begun.controller.change(replace(begun.setup, train=1.0))
    assert not room.boundary.held_back.isVisible(), "all points are trained on"
    told, area = [], room.boundary._area.toRect()
    room.boundary.drawn.connect(lambda _x, _y, kind: told.append(kind))
    for row, brush in enumerate((1, 3, 0)):
        room.boundary.brushes.setCurrentIndex(brush)
        for way, button in ((-1, Qt.MouseButton.LeftButton), (1, Qt.MouseButton.RightButton)):
            # Not on a point that is there: that would be taken.
            place = area.center() + QPoint(way * 30, 30 * (row + 1))
            qtbot.mouseClick(room.boundary.canvas.viewport(), button, pos=place)
    assert told == [1, 3, 0], "the right button does nothing but open a menu"


def test_the_preview_follows_columns_that_advice_or_an_undo_has_chosen(
    begun, room, train_link, qtbot
):
    file = Part("csv", {"path": "f.csv", "inputs": ["a", "b"], "target": "kind", "classes": True})
    begun.controller.change(Setup(data=file))
    train_link.received.emit(looked())

    def roles():
        table = room.file.table
        heads = [table.horizontalHeaderItem(at).text() for at in range(table.columnCount())]
        return [head.partition("\n")[2] for head in heads]

    assert roles() == ["input", "input", "target"]
    # Changes in quick succession are undone at once.
    qtbot.waitUntil(lambda: train_link.last(messages.ChangeSetup) is not None)
    leave_out = Advice("columns", "data.inputs", "Words", "Leave out b", {"data.inputs": ["a"]})
    room.form.advice_followed.emit(leave_out)
    assert begun.setup.data.options["inputs"] == ["a"]
    assert roles() == ["input", "–", "target"]
    begun.controller.undo()
    assert roles() == ["input", "input", "target"]
