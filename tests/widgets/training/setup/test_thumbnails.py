"""The data sets as small pictures."""

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training import Catalogue, CatalogueEntry
from gradscribe.engine.protocol.training.replies import RawArray
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.colors import class_color
from gradscribe.widgets.training.setup.setup_form import SetupForm
from gradscribe.widgets.training.setup.thumbnails import (
    SIDE,
    Thumbnails,
    is_drawable,
    thumbnail_icon,
)

LIGHT = Theme.load("light")
RING = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]], np.float32)
WAVE = np.array([[x, x * x, 0] for x in np.linspace(-1, 1, 30)], np.float32)
ENTRIES = (
    CatalogueEntry("data", "ring", "Ring", "A ring", task="binary", inputs="2"),
    CatalogueEntry("data", "plane", "Plane", "", task="regression", inputs="2"),
    CatalogueEntry("data", "wave", "Wave", "Up and down", task="regression", inputs="1"),
    CatalogueEntry("data", "file", "File", "A table", inputs="n"),
)
SAMPLES = {"ring": RING, "plane": RING, "wave": WAVE}


@pytest.fixture
def shelf(shown):
    made = shown(Thumbnails(), 240, 120)
    made.told = []
    made.chosen.connect(made.told.append)
    for _ in made.offer(ENTRIES, SAMPLES):
        pass
    made.choose("ring")
    return made


def seen(shelf):
    return [name for name, button in shelf.buttons.items() if button.isVisible()]


def test_those_with_as_many_inputs_are_shown(shelf):
    assert seen(shelf) == ["ring", "plane"]
    shelf.choose("wave")
    assert seen(shelf) == ["wave"]
    shelf.choose("file")
    assert seen(shelf) == ["ring", "plane", "wave"], "what cannot be drawn shows them all"


def test_one_click_takes_another(shelf):
    shelf.buttons["plane"].click()
    assert shelf.told == ["plane"]
    assert not shelf.buttons["plane"].isChecked(), "not before it is so"
    shelf.choose("plane")
    assert shelf.buttons["plane"].isChecked()
    shelf.buttons["plane"].click()
    assert shelf.told == ["plane"]
    assert shelf.buttons["plane"].isChecked()


def test_each_says_what_it_is(shelf):
    assert shelf.buttons["ring"].toolTip() == "Ring: A ring"
    assert shelf.buttons["plane"].toolTip() == "Plane"
    assert shelf.buttons["wave"].accessibleName() == "Wave"


def has(icon, color):
    """Return whether something in a picture is nearly of that colour; dots have soft edges."""
    image = icon.pixmap(round(SIDE), round(SIDE)).toImage()
    wanted = (color.red(), color.green(), color.blue())
    found = (
        image.pixelColor(x, y).toTuple()[:3]
        for x in range(image.width())
        for y in range(image.height())
    )
    return any(max(abs(a - b) for a, b in zip(one, wanted, strict=True)) < 40 for one in found)


def test_a_picture_has_the_colours_of_the_plane(qapp):
    for theme in (LIGHT, Theme.load("dark")):
        ring, wave = (
            thumbnail_icon(RING, ENTRIES[0], theme),
            thumbnail_icon(WAVE, ENTRIES[2], theme),
        )
        first, second = (class_color(kind, theme.dark) for kind in (0, 1))
        assert has(ring, first)
        assert has(ring, second)
        assert has(wave, second)
        assert not has(wave, first)


def test_points_fill_their_picture(qapp):
    image = thumbnail_icon(RING, ENTRIES[0], LIGHT).pixmap(round(SIDE), round(SIDE)).toImage()
    ground = LIGHT.panel.rgb()
    lit = [(x, y) for x in range(image.width()) for y in range(image.height())
           if image.pixel(x, y) != ground]  # fmt: skip
    for axis in range(2):
        places = [one[axis] for one in lit]
        assert min(places) <= 4
        assert max(places) >= SIDE - 5


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((0, 3)),
        np.zeros((3, 2)),
        np.zeros(3),
        np.zeros((5000, 3)),
        np.array([[np.nan, 0, 0]]),
        np.array([[0, 0, np.inf]]),
        np.array([[1e30, 0, 0]]),
    ],
)
def test_what_is_no_sample_has_no_button(shelf, bad):
    assert not is_drawable(bad.astype("f4"))
    for _ in shelf.offer(ENTRIES, {"ring": bad.astype("f4"), "wave": WAVE}):
        pass
    assert list(shelf.buttons) == ["wave"]


def test_one_point_is_drawn(qapp):
    assert not thumbnail_icon(np.array([[5, 5, 99]], np.float32), ENTRIES[0], LIGHT).isNull()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_they_stand_within_their_width(shelf, scale):
    shelf.set_theme(LIGHT.scaled(scale))
    shelf.layout().activate()
    assert all(shelf.buttons[name].geometry().right() < 240 for name in seen(shelf))
    assert shelf.minimumSizeHint().width() <= 36 * scale + 6
    shelf.resize(60, 300)
    shelf.layout().activate()
    assert len({shelf.buttons[name].x() for name in seen(shelf)}) == 1


def test_the_form_takes_the_data_of_a_click_and_shows_what_is_at_hand(shown):
    form = shown(SetupForm(), 270, 600)
    told, renewed = [], []
    form.edited.connect(told.append)
    form.renew.clicked.connect(lambda: renewed.append(True))
    arrays = {name: RawArray(one.shape, "<f4", one.tobytes()) for name, one in SAMPLES.items()}
    for _ in form.offer(Catalogue(0, ENTRIES, {}, arrays)):
        pass
    form.set_setup(Setup(data=Part("ring")))
    assert form.thumbnails.buttons["ring"].isChecked()
    form.thumbnails.buttons["plane"].click()
    assert told[-1].data == Part("plane")
    form.set_setup(told[-1])
    assert [n for n, one in form.thumbnails.buttons.items() if one.isChecked()] == ["plane"]
    form.renew.click()
    assert renewed == [True]


def test_other_data_of_the_same_kind_keep_loss_and_features(shown):
    form, told = shown(SetupForm(), 270, 600), []
    form.edited.connect(told.append)
    listed = Catalogue(
        0,
        (
            CatalogueEntry("data", "ring", "Ring", task="binary", inputs="2"),
            CatalogueEntry("data", "arms", "Arms", task="binary", inputs="2"),
            CatalogueEntry("data", "five", "Five", task="classes", inputs="2"),
            CatalogueEntry("data", "wave", "Wave", task="regression", inputs="1"),
            CatalogueEntry("data", "file", "File", task="any", inputs="n"),
            CatalogueEntry("data", "more", "More", task="any", inputs="n"),
        ),
    )
    for _ in form.offer(listed):
        pass
    chosen = Setup(data=Part("ring"), loss=Part("half"), features=("x1", "x1^2"))

    def after(before, name):
        form.set_setup(replace(chosen, data=Part(before)))
        form._choose("data", Part(name))
        return told[-1].loss, told[-1].features

    assert after("ring", "arms") == (Part("half"), ("x1", "x1^2"))
    assert after("ring", "five") == (None, ("x1", "x1^2"))
    for before, name in (("ring", "wave"), ("file", "more"), ("ring", "file"), ("ring", "new")):
        assert after(before, name) == (None, ())


def test_all_take_another_look(shelf):
    light = {name: button.icon().cacheKey() for name, button in shelf.buttons.items()}
    shelf.set_theme(Theme.load("dark"))
    assert all(shelf.buttons[name].icon().cacheKey() != key for name, key in light.items())
