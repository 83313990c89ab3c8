"""Layers and parameters are frozen by a click (row 80)."""

import pytest

from gradscribe.engine.protocol.training import Parameter
from gradscribe.widgets.training.setup.frozen_section import EMPTY, MOST_BOXES, FrozenSection

SHAPES = {
    "0.weight": (4, 2),
    "0.bias": (4,),
    "1.weight": (4,),
    "10.weight": (1, 4),
    "scale": (),
}
PARAMETERS = tuple(
    Parameter(name, shape, 0, "Linear" if "." in name else "Net") for name, shape in SHAPES.items()
)


@pytest.fixture
def section(shown):
    made = shown(FrozenSection(), 280, 400)
    made.heard = []
    made.frozen_changed.connect(made.heard.append)
    made.offer(PARAMETERS)
    made.head.click()
    return made


def on(section):
    return {name for name, box in section.boxes.items() if box.isChecked()}


def test_there_is_a_box_for_each_layer_and_each_parameter(section):
    assert list(section.boxes) == [
        *("0.", "0.weight", "0.bias", "1.", "1.weight", "10.", "10.weight", "scale"),
    ]
    assert section.boxes["0."].text() == "0: Linear"
    assert on(section) == set()


def test_a_click_on_a_layer_freezes_all_of_it_and_nothing_of_another(section):
    section.boxes["1."].click()
    assert section.heard == [("1.",)]
    assert on(section) == {"1.", "1.weight"}
    section.boxes["0.weight"].click()
    assert section.heard[-1] == ("0.weight", "1.")
    section.boxes["0.bias"].click()
    assert section.heard[-1] == ("0.", "1.")
    section.boxes["0.weight"].click()
    assert section.heard[-1] == ("0.bias", "1.")
    assert "0." not in on(section)
    assert section.words.said() == "2 of 5 parameters get no gradient and do not move"


def test_beginnings_of_names_from_a_file_are_shown_as_the_engine_reads_them(section):
    section.choose(("1",))
    assert on(section) == {"1.", "1.weight", "10.", "10.weight"}
    section.boxes["10."].click()
    assert section.heard == [("1.",)]


def test_a_parameter_of_the_model_itself_is_no_layer(section):
    section.boxes["scale"].click()
    assert section.heard == [("scale",)]


def test_another_model_has_other_boxes_and_the_same_one_leaves_them(section):
    before = dict(section.boxes)
    section.offer(PARAMETERS)
    assert section.boxes == before
    section.offer(PARAMETERS[:2])
    assert list(section.boxes) == ["0.", "0.weight", "0.bias"]


def test_before_a_run_and_for_a_huge_model_it_stays_small(shown):
    made = shown(FrozenSection(), 280, 400)
    made.head.click()
    assert made.words.said() == EMPTY
    made.offer([Parameter(f"{n}.weight", (1,), n, "Linear") for n in range(1000)])
    assert len(made.boxes) == MOST_BOXES
