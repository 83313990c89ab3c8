"""The declared settings: complete, and the only ones that the program asks for."""

import ast
from importlib import resources
from pathlib import Path

import pytest

from gradscribe.app.preferences.kinds import ChoiceKind, FontKind, LineKind, NumberKind
from gradscribe.app.preferences.rows import BY_KEY, CHOICES, EFFECTS, GROUPS, SETTINGS

ROOT = Path(str(resources.files("gradscribe.app"))).resolve()
TYPES = {"flag": bool, "number": float, "text": str}
OF_THE_FILE = {"recent", "trusted"}


def test_keys_are_unique():
    assert len(BY_KEY) == len(SETTINGS)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.key)
def test_the_default_is_accepted_and_has_one_of_three_types(row):
    assert type(row.default) in TYPES.values()
    assert row.accepts(row.default)


@pytest.mark.parametrize("row", CHOICES, ids=lambda row: row.key)
def test_a_choice_says_what_it_does_in_a_sentence(row):
    assert row.group in GROUPS
    assert row.effect in EFFECTS
    assert row.title[0].isupper()
    assert not row.title.endswith(".")
    assert row.sentence.endswith(".")
    assert len(row.sentence) > 15


def test_every_group_has_a_setting_and_no_title_stands_twice_in_it():
    assert {row.group for row in CHOICES} == set(GROUPS)
    titles = [(row.group, row.title) for row in CHOICES]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (NumberKind(1.0, 2.0), (1.0, 2.0), (0.9, 2.1, float("nan"), float("inf"), 1, "1", True)),
        (ChoiceKind({"a": "A"}), ("a",), ("b", "", None, 1, [])),
        (LineKind(pattern="[ab]+"), ("a", "abba"), ("", "c", "a\n", 1)),
        (LineKind(), ("", "any thing"), ("two\nlines", "a\0b", "x" * 5000)),
        (FontKind(False), ("", "DejaVu Sans", "思源黑体"), ('"; color: red', "a{b}", "x" * 200)),
    ],
)
def test_a_kind_accepts_what_it_says_and_nothing_else(kind, good, bad):
    assert all(kind.accepts(value) for value in good)
    assert not any(kind.accepts(value) for value in bad)


def asked():
    """Yield (place, method, key) for every constant key with which settings are asked or put."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = ast.unparse(node.func.value)
            if not owner.endswith("settings") or not node.args:
                continue
            key = node.args[0]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield f"{path.name}:{node.lineno}", node.func.attr, key.value


def test_only_declared_settings_are_asked_for_with_their_own_type():
    found = [call for call in asked() if call[1] in (*TYPES, "put", "reset", "is_default")]
    assert len(found) > 40
    for place, method, key in found:
        assert key in BY_KEY, f"{place} asks for {key!r}, which is not declared"
        if method in TYPES:
            assert type(BY_KEY[key].default) is TYPES[method], f"{place} asks {key!r} as {method}"


def test_no_other_module_opens_a_file_of_settings():
    opening = {
        path.name
        for path in ROOT.rglob("*.py")
        if "QSettings" in path.read_text(encoding="utf-8")
        and "import QSettings" in path.read_text()
    }
    assert opening == {"settings_file.py"}
