"""The table of what the mouse does: complete, and each row with keys that are taken."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradscribe.app import commands
from gradscribe.app.manual.gestures import PLACES, WITHOUT_A_GESTURE

ROOT = Path(__file__).parents[3]
HANDLERS = {
    "mousePressEvent", "mouseReleaseEvent", "mouseDoubleClickEvent", "mouseMoveEvent", "wheelEvent",
    "dragEnterEvent", "dropEvent", "mouseDragEvent", "mouseClickEvent",
}  # fmt: skip
EVENTS = {"QMouseEvent", "QWheelEvent", "MouseButtonPress", "MouseButtonDblClick"}
ROWS = [(place, gesture) for place in PLACES for gesture in place.gestures]


def classes_with_a_mouse(text: str) -> Iterator[str]:
    """Yield the classes that handle what the mouse does, or sort events by it."""
    for found in ast.walk(ast.parse(text)):
        if isinstance(found, ast.ClassDef):
            inside = list(ast.walk(found))
            handles = {one.name for one in inside if isinstance(one, ast.FunctionDef)} & HANDLERS
            names = {one.id for one in inside if isinstance(one, ast.Name)}
            names |= {one.attr for one in inside if isinstance(one, ast.Attribute)}
            if handles or names & EVENTS:
                yield found.name


def test_every_widget_that_takes_the_mouse_is_in_the_table():
    files = [path for top in ("widgets", "app") for path in (ROOT / top).rglob("*.py")]
    found = {name for path in files for name in classes_with_a_mouse(path.read_text("utf-8"))}
    listed = {name for place in PLACES for name in place.widgets}
    assert found - listed - WITHOUT_A_GESTURE.keys() == set(), "without a row in gestures.py"
    assert (listed | WITHOUT_A_GESTURE.keys()) - found == set(), "take the mouse no longer"


def test_a_widget_with_a_mouse_is_found():
    text = "class A:\n    def mousePressEvent(self): ...\nclass B:\n    x = 1\n"
    assert list(classes_with_a_mouse(text)) == ["A"]


@pytest.mark.parametrize(("place", "gesture"), ROWS, ids=lambda row: getattr(row, "mouse", ""))
def test_each_gesture_has_a_key_or_a_command(place, gesture):
    assert gesture.keys or gesture.command, place.title
    if gesture.command:
        assert gesture.command in {one.id for one in commands.load()}
    if gesture.taken_in:
        text = (ROOT / gesture.taken_in).read_text("utf-8")
        named = {"+": "Plus", "-": "Minus", "C": "C", "T": "T"}
        plain = (key.rpartition("+")[2] or "+" for key in gesture.keys)
        missing = [key for key in plain if f"Key_{named.get(key, key)}" not in text]
        assert not missing, f"{gesture.taken_in} takes no {missing}"
