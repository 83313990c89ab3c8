"""A table on the command line: what is understood of it, and a setup that trains on it."""

import json

import pytest

from gradscribe.app.cli import main
from gradscribe.app.cli.training import table
from gradscribe.engine.protocol.training import replies

pytestmark = pytest.mark.e2e

TEXT = "# houses\nsize;kind;sold;price\n" + "".join(
    f"{60 + i},5;{'flat' if i % 3 else '?'};{i % 28 + 1}.5.2024;{100 + i}.000,00 €\n"
    for i in range(40)
)


def test_columns_are_described_and_the_setup_trains(tmp_path, capfd):
    path = tmp_path / "houses.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    assert main.main(["train", "--table", str(path)]) == 0
    said = capfd.readouterr().out
    assert "houses.csv: 40 rows · Western European text (cp1252) · cells between semicolons" in said
    assert "numbers, decimal comma, thousands by point, currency left out" in said
    assert "days since 2024-05-01" in said
    assert "1 categories: flat; 14 missing" in said
    setup = json.loads(said.partition("begin with:")[2])
    assert setup["data"]["inputs"] == ["size", "kind", "sold"]
    assert setup["data"]["missing"] == "leave rows out"
    (tmp_path / "setup.json").write_text(json.dumps({**setup, "steps": 5}))
    assert main.main(["train", str(tmp_path / "setup.json")]) == 0
    said = capfd.readouterr().out
    assert "14 of 40 rows are left out: a value is missing" in said
    assert "read as Western European text (cp1252)" in said


def test_a_file_that_is_no_table_is_refused(tmp_path, capfd):
    path = tmp_path / "t.csv"
    path.write_bytes(bytes(range(256)))
    assert main.main(["train", "--table", str(path)]) == 2
    assert "is not text" in capfd.readouterr().err


def test_classes_and_a_missing_header_are_in_the_setup():
    details = tuple(
        replies.ColumnSummary(f"column {i}", kind, "")
        for i, kind in enumerate(("number", "category"), 1)
    )
    rows = tuple(("1", name) for name in "xyxx")
    found = replies.FileSummary(
        1, "f.csv", ("column 1", "column 2"), (True, False), rows, 4, kinds=(4, 2), header=False,
        details=details,
    )  # fmt: skip
    assert table.first_setup(found)["data"] == {
        "name": "csv", "path": "f.csv", "inputs": ["column 1"], "target": "column 2",
        "header": False, "classes": True,
    }  # fmt: skip
