"""docs/manual/python-api.md has every public name, and is what the docstrings say."""

import importlib.util
from pathlib import Path

import pytest

import gradscribe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("api_page", ROOT / "tools" / "api_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_the_page_is_up_to_date(page):
    assert (ROOT / "docs" / "manual" / "python-api.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", gradscribe.__all__)
def test_every_public_name_is_on_the_page(page, name):
    assert f"## `gs.{name}" in page


@pytest.mark.parametrize("member", ["ways(", "to_svg(", "grad`", "shares`", "leaves`", "line`"])
def test_members_are_on_the_page(page, member):
    assert f"### `{member}" in page


def test_what_programs_do_not_call_is_not_on_the_page(page):
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert not [line for line in headings if "`_" in line and "`__" not in line]
    assert not [line for line in headings if "self" in line or "gradscribe." in line[3:]][1:]
