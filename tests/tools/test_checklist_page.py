"""The page of the checklist: every row has a test, or says why it has none yet."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checklist_page(monkeypatch):
    """The module, as `python tools/checklist_page.py` would import it."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("checklist_page")


def test_the_page_is_what_make_docs_writes(checklist_page):
    assert checklist_page.PAGE.read_text(encoding="utf-8") == checklist_page.page()


def test_every_row_has_a_test_or_a_reason(checklist_page):
    tests, reasons = checklist_page.marked(ROOT / "tests"), checklist_page.open_rows()
    assert list(checklist_page.items()) == list(range(1, 257))
    assert tests.keys() <= checklist_page.items().keys()
    assert sorted(checklist_page.items().keys() - tests.keys() - reasons.keys()) == []
    assert sorted(tests.keys() & reasons.keys()) == []
    assert all(reasons.values())


def test_marks_are_found_at_functions_and_cases(checklist_page, tmp_path):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_a.py").write_text(
        "import pytest\n"
        "@pytest.mark.checklist(2, 1)\n"
        "def test_one(): pass\n"
        "@pytest.mark.parametrize('a', [pytest.param('b', marks=pytest.mark.checklist(3)),\n"
        "    pytest.param('c', id='d', marks=[pytest.mark.checklist(1)])])\n"
        "def test_two(a): pass\n"
        "CASES = [pytest.param('e', marks=pytest.mark.checklist(4))]\n"
        "@pytest.mark.parametrize('a', CASES)\n"
        "def test_three(a): pass\n"
    )
    assert checklist_page.marked(folder) == {
        2: ["tests/test_a.py::test_one"],
        1: ["tests/test_a.py::test_one", "tests/test_a.py::test_two[d]"],
        3: ["tests/test_a.py::test_two[b]"],
        4: ["tests/test_a.py::test_three[e]"],
    }


@pytest.mark.parametrize(
    "line",
    [
        "@pytest.mark.checklist('2')\ndef test_a(): pass",
        "@pytest.mark.checklist()\ndef test_a(): pass",
        "@pytest.mark.checklist(number)\ndef test_a(): pass",
        "@pytest.mark.checklist(True)\ndef test_a(): pass",
        "@pytest.mark.checklist(2)\ndef helper(): pass",
        "mark = pytest.mark.checklist(2)",
    ],
)
def test_a_mark_without_a_number_or_a_test_is_refused(checklist_page, tmp_path, line):
    (tmp_path / "test_a.py").write_text(f"import pytest\n{line}\n")
    with pytest.raises(ValueError, match=r"test_a\.py:\d"):
        checklist_page.marked(tmp_path)
