"""The manual documents the stable interfaces whole: every key of the JSON, every option."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.cli import exit_codes
from gradscribe.engine.inspect import export
from gradscribe.engine.protocol.tape import EventKind, Status
from gradscribe.engine.run import run

ROOT = Path(__file__).resolve().parent.parent
MANUAL = ROOT / "docs" / "manual"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def page(name: str) -> str:
    """Return the text of a page of the manual."""
    return (MANUAL / f"{name}.md").read_text(encoding="utf-8")


WORDS = set(re.findall(r"`([^`\n]+)`", page("json-of-a-run")))

EVERYTHING = """
net = nn.Sequential(nn.Linear(2, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
big = torch.ones(2000, requires_grad=True)
opt.zero_grad()
loss = net(torch.ones(2)).sum() + big.sum()
loss.backward()
opt.step()
print("done")
raise ValueError("the end")
"""


def keys(json: export.Json, within: str = "") -> set[tuple[str, str]]:
    """Every key in the document, with the part it stands in."""
    if isinstance(json, list):
        return set().union(*(keys(item, within) for item in json)) if json else set()
    if not isinstance(json, dict):
        return set()
    found = {(within, key) for key in json}
    return found.union(*(keys(value, key) for key, value in json.items()))


def test_every_key_of_the_json_is_explained():
    document = export.to_json(run.record(EVERYTHING))
    missing = sorted((part, key) for part, key in keys(document) if key not in WORDS)
    assert not missing


@pytest.mark.parametrize("kind", [*EventKind.__args__, *Status.__args__])
def test_every_kind_of_event_and_every_status_is_named(kind):
    assert kind in WORDS


@pytest.mark.parametrize("words", [[], ["record"], ["doctor"]], ids=["window", "record", "doctor"])
def test_every_option_is_explained(words):
    told = subprocess.run(
        [sys.executable, "-m", "gradscribe", *words, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    options = set(re.findall(r"--[a-z]+", told)) - {"--help", "--version"}
    assert options
    assert [option for option in options if option not in page("options")] == []


def test_the_exit_codes_are_those_of_the_program():
    table = page("command-line").partition("## Exit codes")[2].partition("## ")[0]
    assert set(re.findall(r"^\| (\d)", table, re.MULTILINE)) == {
        str(code) for code in exit_codes.BY_STATUS.values()
    }


def test_the_names_without_import_are_those_a_script_gets():
    table = page("write-a-program").partition("## What you can type")[2].partition("```")[0]
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))))
    listed |= {"param"}
    names = {name for name in run.initial_names(run.Run(0, "")) if not name.startswith("__")}
    assert listed == names


def test_every_make_target_of_the_readme_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = (
        README + page("install-and-start") + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    )
    targets = set(re.findall(r"\bmake ([a-z0-9]+)", pages))
    spoken = {"makes", "ready", "what", "it"}
    assert [t for t in targets - spoken if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
