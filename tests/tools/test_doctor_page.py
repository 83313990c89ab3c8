"""The page of the findings has a row for each, from its own file."""

import importlib
from pathlib import Path

import pytest

from gradscribe.engine.doctor.examine import finding_kinds
from gradscribe.engine.doctor.ranks.examine import rank_finding_kinds

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def doctor_page(monkeypatch):
    """The module, as `python tools/doctor_page.py` would import it."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("doctor_page")


def test_the_page_is_what_make_docs_writes(doctor_page):
    page = doctor_page.PAGE.read_text(encoding="utf-8")
    assert doctor_page.with_table(page) == page


def test_a_page_gets_a_row_for_each_finding_below_its_words(doctor_page):
    made = doctor_page.with_table("# Title\n\n| Id |\n|---|\n| `old-one` | sure | Gone |\n")
    words, rows = made.splitlines()[:4], made.splitlines()[4:]
    assert words == ["# Title", "", "| Id |", "|---|"]
    assert len(rows) == len(finding_kinds()) + len(rank_finding_kinds())
    assert any(
        row.startswith("| `backward-on-vector` | sure | **A vector has no backward of its")
        for row in rows
    )
    levels = [row.split(" | ")[1] for row in rows]
    assert levels == sorted(levels, reverse=True)
    assert "old-one" not in made
