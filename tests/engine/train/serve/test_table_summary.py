"""Words of a table's preview on its columns."""

import pytest

from gradscribe.engine.train.serve.table_summary import summarize_table

TEXT = "size;kind;sold;who;share;none\n" + "".join(
    f"{i}.250,5;{'ab?'[i % 3]};{i % 28 + 1}.2.2024;no {i};{i} %;\n" for i in range(1, 41)
)


@pytest.fixture
def look(tmp_path):
    def summarized(text=TEXT, written_as="utf-8", header=None, **options):
        path = tmp_path / "t.csv"
        path.write_bytes(text.encode(written_as))
        return summarize_table(1, str(path), header, options)

    return summarized


def details(found):
    assert found.problem is None
    return {detail.name: detail for detail in found.details}


def test_each_column_is_described(look):
    found = details(look())
    words = {name: detail.words for name, detail in found.items()}
    assert words == {
        "size": "numbers, decimal comma, thousands by point",
        "kind": "2 categories: a, b; 13 missing",
        "sold": "days since 2024-02-01",
        "who": "text, 40 different",
        "share": "numbers, 12 % is 0.12",
        "none": "nothing in it; 40 missing",
    }
    assert found["kind"].blanks == sum(i % 3 == 2 for i in range(1, 41)) == 13
    assert found["size"].choices == ("number", "category")
    assert found["sold"].choices == ("days", "date parts", "category")
    assert [detail.problem for detail in found.values()] == [""] * 6


def test_how_the_file_is_read_is_said(look):
    assert look().facts == "UTF-8 · cells between semicolons · missing: ?"
    found = look("# note\n1 2 ü\n3 4 ü\n5 6 ü\n", "cp1252")
    assert found.facts == (
        "Western European text (cp1252) · cells between spaces · lines with # are comments · "
        "no names in the first row"
    )
    many = look("a,b\n" + "1,2\n" * 100, limit=10)
    assert many.facts == "UTF-8 · cells between commas · 1 row in 10 is taken"


def test_choices_of_the_setup_are_followed_and_bad_ones_left_to_the_run(look):
    columns = {"sold": "date parts", "size": {"as": "category", "missing": "mean"}}
    found = details(look(columns=columns))
    assert found["sold"].words == "date as year, month, day, day of week"
    assert (found["size"].kind, found["size"].missing) == ("category", "mean")
    assert details(look(thousands="point", missing="mean", limit="many"))
    assert "row 2 has 2 cells, the header 1" in look(separator="comma").problem.message
    bad = details(look(columns={"sold": "dates", "zebra": 5}, decimal="dot", encoding=7))
    assert bad["sold"].kind == "days"


def test_a_cell_that_does_not_fit_its_column_is_named(look):
    found = details(look("a,b\n1,2024-01-01\nx,2024-01-02\n3,soon\n"))
    assert found["a"].problem.startswith("row 3, column 'a': 'x' is no number")
    assert found["b"].problem.startswith("row 4, column 'b': 'soon' is no date like the others")
