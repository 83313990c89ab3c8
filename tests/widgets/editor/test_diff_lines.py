"""Lines of code with their signs, without the blanks they share."""

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.diff_lines import DiffLines


def test_shared_blanks_and_empty_lines_are_left_out(shown):
    strip = shown(DiffLines(["    if x:", "", "        y()"], "+"), 300, 100)
    assert [label.said() for label in strip.findChildren(Label)] == ["+ if x:", "+     y()"]


def test_both_themes_colour_it(shown):
    strip = shown(DiffLines(["x = 1"], "−"), 300, 100)
    sheets = []
    for name in ("light", "dark"):
        strip.set_theme(Theme.load(name))
        sheets.append(strip.styleSheet())
    assert sheets[0] != sheets[1]


def test_no_lines_take_no_label(shown):
    assert not shown(DiffLines([], "+"), 300, 20).findChildren(Label)
