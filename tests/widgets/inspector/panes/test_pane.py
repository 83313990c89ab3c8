from dataclasses import replace

import pytest

from gradscribe.playback.code import root_edits
from gradscribe.playback.graph import build
from gradscribe.widgets.base.labels import sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector import panes
from gradscribe.widgets.inspector.inspector import explanation_of
from gradscribe.widgets.inspector.panes.page import (
    InspectorPage,
    ProgramState,
    TensorVersions,
    select,
)
from gradscribe.widgets.inspector.panes.pane import Pane
from tests.widgets.inspector.panes.programs import FAN, NEURON, ODD, TRAIN, VIEWS, page, taped

NAMES = {NEURON: "xwbsnoL", FAN: "xyzw"}


def pages():
    """Return pages of every kind, empty ones first."""
    yield InspectorPage()
    yield InspectorPage(versions=None, position=40)
    failed = ProgramState("y.backward()", True, ("cpu",), root_edits.ERROR, 1)
    yield InspectorPage(program=failed)
    for source, names in NAMES.items():
        for name in names:
            for position in (0, 3, 9, None):
                yield page(source, name, position)
                yield page(source, name, position, side="gradient")
    for name in ("bad", "empty", "flag", "whole", "wave", "six", "tiny", "big", "huge"):
        for side in ("value", "gradient"):
            yield page(ODD, name, side=side, slices=(9, 9, 9, 9), element=10**9)
    for source in (TRAIN, VIEWS):
        tape = taped(source)
        scene = build.scenes(tape)[-1]
        picture = build.build_picture(tape, scene)
        keys = [thing.key for group in (picture.cards, picture.wires, picture.frames)
                for thing in group]  # fmt: skip
        for key in keys:
            yield InspectorPage(
                tape, scene.stop, select(picture, key), versions=TensorVersions.of(tape)
            )


ALL = None


def all_pages():
    """Return the pages, made once."""
    global ALL
    ALL = ALL or [replace(p, explanation=explanation_of(p)) for p in pages()]
    return ALL


def test_panes_are_found_by_themselves_in_their_order():
    found = panes.pane_classes()
    names = [entry.__module__.rsplit(".", 1)[1] for entry in found]
    assert names[0] == "overview"
    assert {"numbers", "heatmap", "histogram", "facts", "explain", "check"} <= set(names)
    assert [entry.order for entry in found] == sorted(entry.order for entry in found)


@pytest.mark.parametrize("entry", panes.pane_classes(), ids=lambda e: e.__name__)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_pane_shows_any_page_in_any_order(shown, entry, theme):
    pane = shown(entry(), 260, 500)
    pane.set_theme(Theme.load(theme))
    results = []
    for looked in all_pages():
        results.append(pane.show_page(looked))
        assert isinstance(results[-1], bool)
        pane.grab()
    again = [pane.show_page(looked) for looked in reversed(all_pages())]
    assert again == results[::-1]
    assert True in results


@pytest.mark.parametrize("entry", panes.pane_classes(), ids=lambda e: e.__name__)
def test_no_pane_asks_for_more_width_than_a_narrow_panel(shown, entry):
    pane = shown(entry(), 260, 500)
    pane.setStyleSheet(sheet(Theme.load("light")))
    for looked in all_pages():
        if pane.show_page(looked):
            assert pane.minimumSizeHint().width() <= 228, looked.selection


def test_a_pane_of_numbers_is_left_alone_until_they_change(shown):
    seen = []

    class Counting(Pane):
        numbers_only = True

        def show_page(self, page):
            seen.append(page)
            return True

    pane = shown(Counting())
    for looked in (page(FAN, "x"), page(FAN, "x"), page(FAN, "x", side="gradient")):
        assert pane.refresh(looked)
    assert len(seen) == 2
    pane.set_theme(Theme.load("dark"))
    pane.refresh(page(FAN, "x", side="gradient"))
    assert len(seen) == 3
