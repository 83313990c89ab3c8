"""Tables as people have them: the columns that a run gets, as pandas by itself gives them."""

import contextlib
import io

import numpy as np
import pandas as pd
import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.train.runs import export
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import TrainingProgram


@pytest.fixture
def program(tmp_path):
    """A function that writes a file and makes a program that trains on it."""

    def made(text, inputs=("a",), target="b", name="t.csv", written_as="utf-8", **options):
        path = tmp_path / name
        if isinstance(text, str):
            path.write_bytes(text.encode(written_as))
        elif isinstance(text, bytes):
            path.write_bytes(text)
        given = {"path": str(path), "inputs": list(inputs), "target": target, **options}
        return TrainingProgram(Setup(Part("csv", given), Part("linear"), train=1.0))

    return made


def column(tensor, at=0):
    return tensor[:, at].tolist()


@pytest.mark.parametrize(
    ("separator", "decimal", "thousands"), [(",", ".", ","), (";", ",", "."), (";", ".", "'")]
)
def test_thousands_are_read_as_pandas_reads_them(program, separator, decimal, thousands):
    values = [157669.78, 1000000.5, 12.0, 999.25, 1234.0]
    marks = str.maketrans({",": thousands, ".": decimal})
    cells = [f'"{f"{value:,}".translate(marks)}"' for value in values]
    text = f"a{separator}b\n" + "".join(f"{i}{separator}{cell}\n" for i, cell in enumerate(cells))
    expected = pd.read_csv(
        io.StringIO(text), sep=separator, decimal=decimal, thousands=thousands
    )  # fmt: skip
    assert column(program(text).y) == expected["b"].tolist() == values


def test_numbers_have_the_last_bit_that_they_were_written_with(program):
    rng = np.random.default_rng(3)
    values = (rng.standard_normal(500) * 10.0 ** rng.integers(-12, 12, 500)).tolist()
    text = "a,b\n" + "".join(f"{value!r},{-value!r}\n" for value in values)
    made = program(text)
    assert column(made.x) == values
    assert torch.equal(made.y, -made.x)


def test_percent_and_currency(program):
    made = program('a,b\n0%,"$1,000.50"\n12.5 %,"($2.00)"\n-3%,"-$7"\n')
    assert column(made.x) == [0.0, 12.5 / 100, -3 / 100]
    assert column(made.y) == [1000.5, -2.0, -7.0]


def test_categories_become_a_column_each(program):
    text = "a,b\n" + "".join(f"{name},1\n" for name in "red blue red green".split())
    made = program(text)
    frame = pd.read_csv(io.StringIO(text))
    assert torch.equal(made.x, torch.tensor(pd.get_dummies(frame["a"]).to_numpy("float64")))
    assert made.raw_names == ("a = blue", "a = green", "a = red")


def test_dates_become_days_or_parts(program):
    text = "a,b\n2024-02-28,1\n2024-03-01,2\n2023-12-31,3\n"
    assert column(program(text).x) == [59.0, 61.0, 0.0]
    made = program(text, columns={"a": "date parts"})
    assert made.raw_names == ("a: year", "a: month", "a: day", "a: day of week")
    assert made.x.tolist() == [[2024, 2, 28, 2], [2024, 3, 1, 4], [2023, 12, 31, 6]]
    timed = "a,b\n01.03.2024 06:00,1\n02.03.2024 18:00,2\n"
    assert column(program(timed).x) == [0.25, 1.75]
    assert program(timed, columns={"a": {"as": "date parts"}}).x[:, -1].tolist() == [6.0, 18.0]
    zoned = "a,b\n2024-03-01T06:00:00Z,1\n2024-03-02T01:00:00+01:00,2\n"
    assert column(program(zoned).x) == [0.25, 1.0]
    odd = "a,b\n20240301,1\n20240305,2\n"
    given = program(odd, columns={"a": {"as": "days", "format": "%Y%m%d"}})
    assert column(given.x) == [0.0, 4.0]


def test_a_number_can_be_read_as_categories(program):
    made = program("a,b\n3,1\n1,2\n3,4\n", columns={"a": "category"})
    assert made.x.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert made.raw_names == ("a = 1", "a = 3")


MISSING = "a,c,b\n1,x,1\n?,y,2\n5,n/a,3\n,x,4\n9,y,?\n"


def test_rows_without_a_value_can_be_left_out(program):
    made = program(MISSING, ["a", "c"], missing="leave rows out")
    assert (made.x.tolist(), column(made.y)) == ([[1.0, 1.0]], [1.0])
    assert "4 of 5 rows are left out" in made.note


def test_a_missing_value_can_be_the_mean(program):
    made = program(MISSING, ["a", "c"], missing="mean")
    assert column(made.x) == [1.0, 3.0, 5.0, 3.0]
    assert made.x[:, 1].tolist() == pytest.approx([1, 0, 2 / 3, 1])
    assert column(made.y) == [1.0, 2.0, 3.0, 4.0], "a target is never made up"


def test_a_missing_value_can_be_a_category_of_its_own(program):
    made = program(MISSING, ["a", "c"], missing="own category")
    assert made.raw_names == ("a", "a = (missing)", "c = x", "c = y", "c = (missing)")
    assert made.x.tolist() == [[1, 0, 1, 0, 0], [3, 1, 0, 1, 0], [5, 0, 0, 0, 1], [3, 1, 1, 0, 0]]


def test_each_column_can_have_its_own_choice(program):
    made = program(
        MISSING, ["a", "c"], missing="leave rows out", columns={"a": {"missing": "mean"}}
    )
    assert column(made.x) == [1.0, 1.0, 1.0], "the mean of the rows that are left"


def test_words_for_missing_values_can_be_given(program):
    text = "a,b\n1,2\n-999,3\n4,5\n"
    made = program(text, missing="leave rows out", missing_words=["-999"])
    assert column(made.x) == [1.0, 4.0]


def test_a_minus_is_a_value_where_there_is_a_plus(program):
    made = program("a,b\n1,+\n-,-\n3,+\n4,-\n", classes=True, missing="leave rows out")
    assert made.class_names == ("+", "-")
    assert (column(made.x), made.y.tolist()) == ([1.0, 3.0, 4.0], [0, 0, 1])


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1\u202f234\u202f567,5", 1234567.5),
        ("1\u00a0234,5 €", 1234.5),
        ("1’234.50", 1234.5),
        ("CHF 1'234.–", 1234.0),
        ("₹1,234.50", 1234.5),
        ("1.234,50-", -1234.5),
        ("−5", -5.0),
        ("(5 %)", -5 / 100),
        ("6.02e23", 6.02e23),
    ],
)
def test_numbers_of_many_places(program, written, value):
    made = program(f'a;b\n"{written}";1\n"{written}";2\n', decimal="auto")
    assert column(made.x) == [value, value]


def test_several_targets(program):
    text = "a,b,c\n1,2,3\n4,5,6\n"
    for target in (["b", "c"], "b, c"):
        made = program(text, target=target)
        assert made.y.tolist() == [[2.0, 3.0], [5.0, 6.0]]
        assert made.target_names == ("b", "c")
        assert made.shapes.outputs == 2
    with pytest.raises(SetupError, match="classes are one target column"):
        program(text, target=["b", "c"], classes=True)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8"])
def test_other_encodings_are_read_and_said(program, encoding):
    made = program("größe;b\n1;2\n3;4\n", ["größe"], written_as=encoding)
    assert column(made.x) == [1.0, 3.0]
    assert ("read as" in made.note) == (encoding != "utf-8")


def test_spaces_and_comments(program):
    made = program("# measured by hand\n a   b\n 1   2\n# a break\n 10 20\n")
    assert (column(made.x), column(made.y)) == ([1.0, 10.0], [2.0, 20.0])


def test_rows_are_numbered_as_in_the_file(program):
    text = '# note\n\na,b,c\n1,2,"two\nlines"\n# note\n\n3,4,x\nfour,5,y\n6,7,z\n'
    with pytest.raises(SetupError, match=r"^row 9, column 'a': 'four' is no number"):
        program(text)


WORDS = [
    ("a,b\n1,2\nx,3\n4,5\n", {}, "row 3, column 'a': 'x' is no number (the only one); correct it"),
    ("a,b\n1,2\n?,3\n4,5\n", {}, "row 3, column 'a': nothing there ('?' is read so); rows with"),
    ("a,b\n1,2\n,3\n4,5\n", {}, 'Choose "leave rows out", "mean" or "own category" for missing'),
    ("a,b\n1,red\n2,blue\n3,red\n", {}, "'red' is no number; the column holds 2"),
    ("a,b\n1,red\n2,blue\n3,red\n", {}, 'with "classes": true they are learned as classes'),
    ("a,b\n1,2024-01-01\n2,2024-01-02\n", {}, "row 2, column 'b': '2024-01-01' is a date"),
    ("a,b\n2024-01-01,1\nsoon,2\n2024-01-03,3\n", {}, "row 3, column 'a': 'soon' is no date"),
    ("1.5,red\n2,red\n3,blue\n", {}, 'looks like data: with "header": false the'),
    ("aa,b\n1,2\n", {}, "no column 'a'; did you mean 'aa'?"),
    ("a,b\n1,2\n3,4\n", {"columns": {"a": "categry"}}, "must be one of number, category, days"),
    ("a,b\n1,2\n3,4\n", {"columns": {"c": "category"}}, "no column 'c'"),
    ("a,b\n1,2\n3,4\n", {"columns": {"a": {"a": "category"}}}, "has no key 'a'"),
    ("a,b\nx,2\ny,4\n", {"columns": {"a": "days"}}, "are no dates in a usual format"),
    ("a,b\nx,2\ny,4\nz,6\n", {"columns": {"a": "number"}}, "; the column holds text: \"columns\""),
    ("a,b\n,2\n,4\n", {}, "column 'a' has no values; leave it out"),
    ("a,b\n1,2\n", {"encoding": "klingon"}, "there is no encoding 'klingon'"),
    ("a,b\n1,2\n", {"encoding": "base64"}, "there is no encoding 'base64'"),
    ("a,b\n1,2\n", {"decimal": "comma", "thousands": "comma"}, "are both comma"),
    ("a,b\n?,2\n1,?\n", {"target": "a", "inputs": ["b", "a"]}, "row 2, column 'a': nothing there"),
    ("a,b\n,x\n1,\n", {"missing": "mean", "classes": True}, "no values in the rows that are left"),
    ("a,b\n1e400,1\n2,3\n", {}, "row 2, column 'a': 1e400 is not finite"),
    ("a,b\n" + "9" * 400 + ",1\n2,3\n", {}, "row 2, column 'a': 999"),
    ("a,b\n1,-Inf\n2,3\n", {}, "row 2, column 'b': -Inf is not finite"),
    ("ä,b\n1,2\n", {"encoding": "ascii"}, 'is not text in ascii: set "encoding"'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "words"), WORDS, ids=range(len(WORDS)))
def test_what_is_wrong_is_said_with_row_column_cell_and_what_to_do(program, text, options, words):
    with pytest.raises(SetupError) as caught:
        program(text, **options)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300
    assert caught.value.place.startswith("data")
    assert "\n" not in str(caught.value)


def test_names_are_no_categories(program):
    text = "a,b\n" + "".join(f"person {i},{i}\n" for i in range(40))
    with pytest.raises(SetupError, match="40 different texts in 40 rows"):
        program(text)
    assert program(text, columns={"a": "category"}).x.shape == (40, 40)


def test_more_rows_than_the_limit_are_said_to_be_left_out(program):
    made = program("a,b\n" + "1,2\n" * 3000, limit=1000)
    assert made.note == 't.csv has about 3,000 rows; 1 in 3 is taken ("limit" takes more)'
    assert len(made.x) == 1000


@pytest.mark.parametrize(
    ("feature", "source"),
    [("t", "x1"), ("t^2", "x1^2"), ("t * floor area", "x1*x2"), ("sin(floor area)", "sin(x2)")],
)
def test_features_may_have_the_names_of_columns(tmp_path, feature, source):
    path = tmp_path / "t.csv"
    path.write_text("t,floor area,b\n" + "".join(f"{i},{3 - i},{i}\n" for i in range(9)))
    given = {"path": str(path), "inputs": ["t", "floor area"], "target": "b"}

    def columns(name):
        made = TrainingProgram(Setup(Part("csv", given), Part("linear"), features=(name,)))
        return made.tensor("x_train")

    assert torch.equal(columns(feature), columns(source))
    with pytest.raises(SetupError, match="x1 is t, x2 is floor area"):
        columns("t^t")


def test_a_doubt_is_said(program):
    made = program("a\tb\n1,234\t1\n2,345\t2\n")
    assert column(made.x) == [1.234, 2.345]
    assert 'a: the comma is taken as decimal mark ("decimal" changes that)' in made.note
    assert column(program("a\tb\n1,234\t1\n2,345\t2\n", decimal="point").x) == [1234.0, 2345.0]


# Workbooks and Parquet files

FRAME = pd.DataFrame(
    {
        "a": [1.5, 2.25, None, 4.0],
        "kind": ["owl", "cat", "owl", "n/a"],
        "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-02", "2024-02-01"]),
        "b": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize("name", ["t.xlsx", "t.parquet"])
def test_workbooks_and_parquet_files(program, tmp_path, name):
    if name == "t.xlsx":
        FRAME.to_excel(tmp_path / name, index=False)
    else:
        FRAME.to_parquet(tmp_path / name)
    made = program(None, ["a", "kind", "day"], name=name, missing="own category")
    assert made.raw_names == (
        "a", "a = (missing)", "kind = cat", "kind = owl", "kind = (missing)", "day",
    )  # fmt: skip
    mean = FRAME["a"].mean()
    assert column(made.x) == [1.5, 2.25, mean, 4.0]
    assert made.x[:, 2:5].tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert made.x[:, 5].tolist() == [0, 2, 1, 31]
    assert column(made.y) == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(SetupError, match=r"row \d, column 'a': nothing there"):
        program(None, name=name)


def test_columns_of_any_type_of_a_parquet_file(program, tmp_path):
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "single": np.array([0.1, 0.2, 0.3], np.float32),
            "flag": [True, False, True],
            "maybe": [True, None, False],
            "kind": pd.Categorical(["b", "a", "b"]),
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04"], utc=True),
            "b": [1.0, 2.0, 3.0],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    names = ["whole", "single", "flag", "maybe", "kind", "when"]
    made = program(None, names, name="t.parquet", missing="mean")
    assert column(made.x) == [1.0, 2.0, 3.0]
    assert column(made.x, 1) == frame["single"].astype("float64").tolist()
    assert column(made.x, 2) == [1.0, 0.0, 1.0]
    assert made.raw_names[3:] == (
        "maybe = False", "maybe = True", "kind = a", "kind = b", "when",
    )  # fmt: skip
    assert made.x[:, 3:5].tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    assert column(made.x, 7) == [0.0, 1.0, 3.0]
    made = program(None, ["single"], target="whole", name="t.parquet", missing="mean", classes=True)
    assert (made.class_names, made.y.tolist()) == (("1", "3"), [0, 1])


def test_a_broken_workbook_is_said_to_be_one(program):
    with pytest.raises(SetupError, match=r"t.xlsx cannot be read"):
        program(b"PK\x03\x04 and no more", name="t.xlsx")


def test_a_missing_library_is_named(program, tmp_path, monkeypatch):
    FRAME.to_excel(tmp_path / "t.xlsx", index=False)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(SetupError, match=r"install gradscribe\[tables\]"):
        program(None, name="t.xlsx")


@pytest.mark.parametrize(
    "data", [b"\x1f\x8b\x08rest", b"%PDF-1.7", b"\xd0\xcf\x11\xe0rest", b"SQLite format 3\0"]
)
def test_files_that_are_no_tables_are_named(program, data):
    with pytest.raises(SetupError, match=r"save|unpack|export"):
        program(data)


# The exported script

SCRIPTS = {
    "plain": ("a,b\n" + "".join(f"{i / 7},{i}\n" for i in range(30)), {}),
    "marks": ("a;b\n" + "".join(f"{i}.000,5;{i} %\n" for i in range(1, 30)), {}),
    "kinds": (
        "a,c,d,b\n"
        + "".join(f"{i % 5 or '?'},{'xyz'[i % 3]},2024-1-{i % 28 + 1},{i}\n" for i in range(40)),
        {"inputs": ["a", "c", "d"], "missing": "own category", "columns": {"d": "date parts"}},
    ),
    "days": ("a,b\n" + "".join(f"{i}.5.2023,{i}\n" for i in range(1, 30)), {"missing": "mean"}),
    "classes": ("a,b\n" + "".join(f"{i},{'xyz'[i % 3]}\n" for i in range(30)), {"classes": True}),
    "targets": ("a,b,c\n" + "".join(f"{i},{i},{-i}\n" for i in range(30)), {"target": ["b", "c"]}),
    "sampled": ("# x\na b\n" + "".join(f"{i} {i * 2}\n" for i in range(200)), {"limit": 50}),
    "cp1252": ("a;b\n" + "".join(f"{'grün' if i % 3 else 'weiß'};{i}\n" for i in range(30)), {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", SCRIPTS)
def test_the_exported_script_makes_the_same_run(tmp_path, kind):
    text, options = SCRIPTS[kind]
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("cp1252" if kind == "cp1252" else "utf-8"))
    data = Part("csv", {"path": str(path), "inputs": ["a"], "target": "b", **options})
    run = TrainingRun(Setup(data, Part("mlp"), standardize=True))
    run.advance(12)
    losses = [line.split(",")[1] for line in run.history.csv().splitlines()[2:]]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(export.script(run, 12), "script.py", "exec"), {"__name__": "__main__"})
    assert [line.split()[1] for line in out.getvalue().splitlines()] == losses
    assert "gradscribe" not in export.script(run, 12).split('"""')[2]
