"""The manual's reference pages are what the program says of itself."""

import importlib
from pathlib import Path

import pytest

from gradscribe.app import commands
from gradscribe.app.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    """The module, as `python tools/manual_pages.py` would import it."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("manual_pages")


@pytest.mark.parametrize("name", ["commands", "keyboard", "messages", "options", "file-formats"])
def test_a_page_is_what_make_docs_writes(tool, name):
    assert (tool.MANUAL / f"{name}.md").read_text(encoding="utf-8") == tool.PAGES[name]()


def test_every_command_and_its_keys_are_listed(tool):
    page = tool.commands_page()
    for one in commands.load():
        assert f"| {one.title} |" in page
        assert all(f"`{key}`" in page for key in one.keys)


def test_every_command_of_the_command_line_has_its_options(tool):
    page = tool.options_page()
    assert [name for name in COMMANDS if f"## gradscribe {name}\n" not in page] == []
    assert "`--numbers MIB`" in page


def test_a_hint_stands_next_to_its_error(tool):
    row = next(line for line in tool.messages_page().splitlines() if "view size is not" in line)
    assert ".reshape(...)" in row
