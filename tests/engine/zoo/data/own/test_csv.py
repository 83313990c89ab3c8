"""Tables: what is read of them, and what is said of those that cannot be."""

import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies, table_summary
from gradscribe.engine.train.source.program import TrainingProgram


@pytest.fixture
def table(tmp_path):
    """A function that writes a file and trains on it: its inputs and targets."""

    def made(text, encoding="utf-8", **options):
        file = tmp_path / "t.csv"
        file.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        given = {"path": str(file), "inputs": ["a"], "target": "b", **options}
        program = TrainingRun(Setup(Part("csv", given), Part("linear"), train=1.0)).program
        return program.x.tolist(), program.y.tolist()

    return made


def test_columns_are_chosen_by_name(table):
    assert table("b,c,a\n1,x,2\n3,y,4\n") == ([[2.0], [4.0]], [[1.0], [3.0]])


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;2\n",
        "a\tb\n1,5\t2\n",
        "a|b\n1.5|2\n",
        "\ufeffa,b\r\n1.5,2\r\n",
        "\n\na,b\n\n1.5,2",
    ],
)
def test_other_separators_decimal_commas_and_marks_of_byte_order(table, text):
    assert table(text) == ([[1.5]], [[2.0]])


def test_a_separator_at_the_end_of_a_row_is_no_cell(table):
    assert table("a,b\n1,2,\n3,4, \n") == ([[1.0], [3.0]], [[2.0], [4.0]])


def test_words_are_classes_in_sorted_order(table):
    x, y = table("a,b\n1,owl\n2,cat\n3,owl\n", classes=True)
    assert (x, y) == ([[1.0], [2.0], [3.0]], [1, 0, 1])


def test_classes_keep_their_names(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,owl\n2,cat\n3,owl\n")
    part = Part("csv", {"path": str(file), "inputs": ["a"], "target": "b", "classes": True})
    run = TrainingRun(Setup(part, Part("linear"), train=1.0))
    assert replies.run_started(1, run, None).classes == ("cat", "owl")
    assert replies.run_started(1, TrainingRun(Setup(Part("moons"))), None).classes == ("0", "1")


def test_a_table_may_do_without_names(table, tmp_path):
    chosen = {"inputs": ["column 1"], "target": "column 2", "header": False}
    assert table("\n1.5,2\n3,4\n", **chosen) == ([[1.5], [3.0]], [[2.0], [4.0]])
    every = "".join(f"{i},{2 * i}\n" for i in range(100))
    assert table(every, limit=30, **chosen)[0] == [[float(i)] for i in range(0, 100, 4)]
    assert table("1,5;2,5\n3,0;4,0\n", **chosen) == ([[1.5], [3.0]], [[2.5], [4.0]])
    with pytest.raises(SetupError, match="row 2 has 3 cells, the first 2"):
        table("1,2\n3,4,5\n", **chosen)
    with pytest.raises(SetupError, match="row 1, column 'column 1': 'a' is no number"):
        table("a,b\n1,2\n3,4\n", **chosen)


def test_a_look_sees_whether_the_first_row_names_the_columns(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("1,5;2;x\n3;4;y\n5;6;y\n")
    assert table_summary.summarize_table(1, str(file)).header, "a word among numbers may be a name"
    file.write_text("1,5;2;x\n3;4;y\n5;6;y\n7;8;x\n")
    found = table_summary.summarize_table(1, str(file))
    assert not found.header, "it comes again below"
    file.write_text("1,5;2\n3;4\n")
    found = table_summary.summarize_table(1, str(file))
    assert (found.header, found.columns) == (False, ("column 1", "column 2"))
    assert (found.count, found.rows[0]) == (2, ("1,5", "2"))
    named = table_summary.summarize_table(1, str(file), header=True)
    assert (named.header, named.columns, named.count) == (True, ("1,5", "2"), 1)


def test_one_slip_leaves_a_column_of_numbers_one(tmp_path):
    file = tmp_path / "t.csv"
    rows = [f"{i},{i},{'ox' if i % 2 else 'yak'}" for i in range(40)]
    rows[7] = "7,seven,ox"
    file.write_text("\n".join(("a,b,c", *rows)))
    found = table_summary.summarize_table(1, str(file))
    assert found.numeric == (True, True, False)
    assert found.kinds == (40, 40, 2)


@pytest.mark.parametrize("end", ["", "\n", "\n4,cat,y\n", "\n\n4,owl,y\n5,cat,y\n"])
@pytest.mark.parametrize(
    "line", ['3,"owl,y', '3,owl,"y', '"3,owl,y', '3,"owl ""x"",y', '"3",owl,"end']
)
@pytest.mark.parametrize("options", [{"classes": True}, {"missing": "leave rows out"}])
def test_a_quotation_that_is_not_closed_is_told_with_its_row(table, line, end, options):
    with pytest.raises(SetupError, match=r"^row 3 opens a quotation and does not close it$"):
        table(f"a,b,c\n1,2,x\n{line}{end}", **options)


def test_quoted_cells_hold_separators_and_line_ends(table):
    assert table('a,b,c\n1,2,"x,\ny"\n3,4,z\n')[0] == [[1.0], [3.0]]


BAD = {
    "text": ("a,b\n1,2\n3,4\nmany,6\n", "row 4, column 'a': 'many' is no number"),
    "missing": ("a,b\n1,2\n,4\n5,\n", "row 3, column 'a': nothing there.*2 of 3"),
    "ragged": ("a,b\n1,2\n3\n", "row 3, column 'b': nothing there"),
    "too many cells": ("a,b\n1,2\n3,4,5\n", "row 3 has 3 cells, the header 2"),
    "blank lines count": ("a,b\n\n\n1,2\n\nx,2\n", "row 6, column 'a'"),
    "infinite": ("a,b\n1,inf\n", "row 2, column 'b': inf is not finite"),
    "no rows": ("a,b\n", "no rows below its header"),
    "empty": ("", "is empty"),
    "no column": ("a,c\n1,2\n", "no column 'b'; it has a, c"),
    "not text": (bytes(range(256)) * 9, "t.csv is not text"),
    "open quotation": (
        'a,b\n1,2\n3,4\n"' + "5,6000000\n" * 15_000,
        "row 4 opens a quotation and does not close it",
    ),
    "other letters far below": (
        b"a,b\n" + b"1,2\n" * 9000 + b"\xff,2\n",
        "row 9002, column 'a': 'ÿ' is no number",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_told_with_its_row(table, name):
    text, words = BAD[name]
    with pytest.raises(SetupError, match=words) as caught:
        table(text)
    assert caught.value.place.startswith("data")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("size; price\n1;2\n", {"inputs": []}, "data.inputs is empty; t.csv has size, price"),
        ("1,2\n3,4\n", {"target": "", "header": False}, "t.csv has column 1, column 2"),
        ("", {"inputs": []}, "t.csv is empty"),
    ],
)
def test_who_names_no_columns_is_told_which_there_are(table, text, options, words):
    with pytest.raises(SetupError, match=words):
        table(text, **options)


def test_rows_that_miss_a_value_can_be_left_out(table):
    text = "a,b,c\n1,2,\n,4,x\n5,NA,x\n6,7,x\n"
    assert table(text, missing="leave rows out") == ([[1.0], [6.0]], [[2.0], [7.0]])
    with pytest.raises(SetupError, match="no row in which all"):
        table("a,b\n,1\n2,\n", missing="leave rows out")


def test_of_many_rows_every_kth_is_taken(table):
    text = "a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(100))
    x, _ = table(text, limit=30)
    assert x == [[float(i)] for i in range(0, 100, 4)]


LOOKS = {
    "": "is empty",
    "a\n1\n": "it has one column",
    "a,b\n": "no rows below its header",
    "a,b\n1,2\n3,4,5\n": "row 3 has 3 cells, the header 2",
    'a,b\n1,2\n"3,4\n': "row 3 opens a quotation and does not close it",
}


@pytest.mark.parametrize("text", LOOKS, ids=LOOKS.values())
def test_a_look_tells_what_is_wrong(tmp_path, text):
    file = tmp_path / "t.csv"
    file.write_text(text)
    found = table_summary.summarize_table(1, str(file))
    assert LOOKS[text] in found.problem.message
    assert found.problem.message.startswith("t.csv: ")


def test_a_look_tells_columns_of_numbers_from_text(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a;b;c;d\n1,5;x;;2\n;y;;3\n")
    found = table_summary.summarize_table(1, str(file))
    assert found.problem is None
    assert found.columns == ("a", "b", "c", "d")
    assert found.numeric == (True, False, False, True)
    assert found.count == 2
    assert found.rows[0] == ("1,5", "x", "", "2")


def test_columns_without_a_name_or_with_that_of_another_get_their_own(table, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(",a,a\n0,1,2\n1,3,4\n")
    found = table_summary.summarize_table(1, str(file))
    assert found.columns == ("column 1", "a", "a (2)")
    assert table("a,a\n1,2\n3,4\n", target="a (2)") == ([[1.0], [3.0]], [[2.0], [4.0]])


def test_a_look_counts_a_long_file(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n" + "1,2\n" * 5000)
    found = table_summary.summarize_table(1, str(file))
    assert found.count == 5000
    assert len(found.rows) == table_summary.SHOWN_ROWS
    assert (
        "no such file"
        in table_summary.summarize_table(1, str(tmp_path / "none.csv")).problem.message
    )
    assert table_summary.summarize_table(1, str(tmp_path)).problem is not None


def test_trained_on_it_learns_the_line(table, tmp_path):
    file = tmp_path / "line.csv"
    x = torch.linspace(-1, 1, 40)
    file.write_text("a,b\n" + "".join(f"{v},{3 * v + 1}\n" for v in x.tolist()))
    data = Part("csv", {"path": str(file), "inputs": ["a"], "target": "b"})
    run = TrainingRun(Setup(data, Part("linear"), optimizer=Part("sgd", {"lr": 0.3})))
    run.advance(200)
    weight, bias = (p.item() for p in run.program.model.parameters())
    assert (weight, bias) == (pytest.approx(3, abs=1e-3), pytest.approx(1, abs=1e-3))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_keep_the_digits_that_the_dtype_has_room_for(tmp_path, dtype):
    cells = [0.1, 1 / 3, 123456.789012345, 1e-9, -2.718281828459045]
    path = tmp_path / "digits.csv"
    path.write_text("a,b\n" + "".join(f"{c!r},{c!r}\n" for c in cells))
    part = Part("csv", {"path": str(path), "inputs": ["a"], "target": "b"})
    program = TrainingProgram(Setup(part, Part("linear"), train=1.0, dtype=dtype))
    expected = torch.tensor(cells, dtype=getattr(torch, dtype))
    assert torch.equal(program.tensor("x_train")[:, 0], expected)
    assert torch.equal(program.tensor("y_train")[:, 0], expected)
