"""Switches with a sentence each."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QScrollArea

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.training.setup.check_boxes import CheckBoxSection

ABOUT = {"no_zero_grad": "Gradients add up", "huge_lr": "A hundred times as far"}


@pytest.fixture
def switches(shown):
    made = shown(
        CheckBoxSection("Mistakes on purpose", {"huge_lr": "Learning rate too big"}), 280, 240
    )
    made.told = []
    made.switched.connect(made.told.append)
    made.offer(ABOUT)
    return made


def seen(switches):
    return [one.said() for one in switches.body.findChildren(Label) if one.isVisible()]


def test_they_are_made_once_the_section_is_open(switches):
    assert not switches.boxes
    switches.choose(["huge_lr"])
    switches.head.click()
    assert [box.text() for box in switches.boxes.values()] == [
        "No zero grad",
        "Learning rate too big",
    ]
    assert switches.boxes["huge_lr"].isChecked()
    assert switches.told == []


def test_each_tells_all_that_is_on(switches):
    switches.head.click()
    switches.boxes["huge_lr"].click()
    switches.boxes["no_zero_grad"].click()
    switches.boxes["huge_lr"].click()
    assert switches.told == [("huge_lr",), ("no_zero_grad", "huge_lr"), ("no_zero_grad",)]


def test_what_it_does_is_read_while_it_is_on(switches):
    switches.head.click()
    assert seen(switches) == []
    switches.boxes["huge_lr"].click()
    assert seen(switches) == [ABOUT["huge_lr"]]
    switches.choose([])
    assert seen(switches) == []


def test_another_offer_adds_to_an_open_section(switches):
    switches.head.click()
    switches.offer({"freeze_first": "The first layer stays"})
    assert list(switches.boxes) == [*ABOUT, "freeze_first"]


def test_what_opens_below_the_edge_is_scrolled_to(shown, qtbot):
    area, made = QScrollArea(), CheckBoxSection("Mistakes on purpose", {})
    area.setWidgetResizable(True)
    area.setWidget(made)
    shown(area, 280, 130)
    made.offer({f"m{n}": f"Sentence {n}, which is long enough to be broken" for n in range(9)})
    made.head.click()
    # By its end alone, as one sees it who looks for the last of them.
    area.ensureWidgetVisible(made.boxes["m8"], 0, 0)
    made.boxes["m8"].click()
    words = next(one for one in made.body.findChildren(Label) if "8" in one.said())

    def is_seen():
        place = QRect(words.mapTo(area.viewport(), words.rect().topLeft()), words.size())
        return area.viewport().rect().contains(place)

    qtbot.waitUntil(is_seen)
