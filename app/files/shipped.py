"""Programs and lessons that come with Gradscribe: they are not from outside, wherever they lie."""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

FOLDERS = ("examples", "lessons", "lab", "setups")
SUFFIXES = (".py", ".md", ".json")


def is_shipped(text: str) -> bool:
    """Return whether a text is that of an example or lesson, or the module of a set-up."""
    return bool(text) and text in _texts()


@cache
def _texts() -> frozenset[str]:
    found: set[str] = set()
    assets = resources.files("gradscribe.assets")
    for folder in FOLDERS:
        for entry in _files(assets / folder):
            text = entry.read_text(encoding="utf-8")
            if entry.name.endswith(".json"):
                found |= _modules(text)
            else:
                found.add(text)
    return frozenset(found)


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.endswith(SUFFIXES):
            yield entry


def _modules(text: str) -> set[str]:
    """Return the programs in a set-up."""
    setup = msgspec.json.decode(text)
    options = setup.get("model", {}).get("options", {}) if isinstance(setup, dict) else {}
    return {str(options["source"])} if isinstance(options, dict) and "source" in options else set()
