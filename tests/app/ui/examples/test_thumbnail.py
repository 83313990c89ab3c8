"""The small picture of a graph in the gallery."""

import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.document import example_pictures
from gradscribe.app.document.example_pictures import SmallPicture
from gradscribe.app.ui.examples.thumbnail import ExampleThumbnail
from gradscribe.widgets.base.theme import Theme


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize("name", ["light", "dark"])
def test_boxes_have_the_colours_of_their_kinds(host, name):
    theme = Theme.load(name)
    made = ExampleThumbnail(example_pictures.load()["sum_times"], theme, host)
    picture = made.grab().toImage()
    seen = {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}
    assert theme.color("parameter").rgb() in seen
    assert theme.line_strong.rgb() in seen
    assert theme.ink.rgb() in seen


@pytest.mark.parametrize(
    "picture",
    [
        SmallPicture(0, 0, (), ()),
        SmallPicture(1, 90_000, (("op", 0, 0, 1, 90_000),), ()),
        SmallPicture(50, 50, (("loss", 0, 0, 50, 50),), ((0, 0, 50, 50),)),
    ],
)
def test_any_size_is_drawn(host, picture):
    assert not ExampleThumbnail(picture, Theme.load("light"), host).grab().isNull()
