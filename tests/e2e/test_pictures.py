"""The window as it looks on the screen, compared with approved pictures."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from tests.e2e.pictures import MOST_CELLS, check_picture, differing, reduced
from tests.e2e.program import Program


@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)], ids=["1440x900", "1000x640"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_example_of_the_first_start(start, theme, size):
    program = start(settings={"theme": theme}, size=size)
    program.says("Backward is done")
    check_picture(f"example-{theme}-{size[0]}", program.still_picture())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_training_page_before_its_first_step(start, theme):
    program = start(settings={"theme": theme})
    program.says("Backward is done")
    program.keys("ctrl+alt+2")
    program.find("label", "step [1-9].*")
    program.press("push button", "Pause")
    program.find("push button", "Train")
    program.keys("Home")
    # A panel may not have shown any later step yet: all have to say so.
    program.wait(lambda: steps_of(program) == {"step 0"}, "every panel at step 0")
    check_picture(f"training-{theme}", program.still_picture())


def steps_of(program: Program) -> set[str]:
    """Return the steps that the panels of the training page show."""
    labels = (name for role, name in program.texts() if role == "label")
    return {name for name in labels if re.fullmatch(r"step [\d,]+", name)}


def drawn(font: str, panel: QRect) -> QImage:
    """Return a picture of a panel with lines of text."""
    image = QImage(1440, 900, QImage.Format.Format_RGB888)
    image.fill(QColor("white"))
    with QPainter(image) as painter:
        painter.fillRect(panel, QColor("#dbe6fd"))
        painter.setFont(QFont(font, 10))
        for line in range(20):
            painter.drawText(panel.left() + 20, panel.top() + 30 + 25 * line, "x = param(-2.0)")
    return reduced(image, 4)


def test_another_font_is_the_same_picture_and_a_moved_panel_is_not(qapp):
    panel = QRect(40, 100, 360, 600)
    seen = drawn("DejaVu Sans", panel)
    assert differing(seen, drawn("DejaVu Sans Mono", panel)) <= MOST_CELLS
    assert differing(seen, drawn("DejaVu Sans", panel.translated(40, 0))) > MOST_CELLS


def test_a_picture_that_is_not_approved_fails(qapp, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tests.e2e.pictures.SEEN", tmp_path / "seen")
    monkeypatch.setenv("APPROVE", "0")
    path = tmp_path / "screen.png"
    drawn("DejaVu Sans", QRect(40, 100, 360, 600)).save(str(path))
    with pytest.raises(AssertionError, match="no approved picture"):
        check_picture("of-nothing", path)
    assert (tmp_path / "seen" / "of-nothing.png").is_file()
