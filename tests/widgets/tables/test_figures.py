"""Figures of a program: small beside the output, large in a window, saved into a file."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from gradscribe.engine.protocol.figures import AxesData, Figure, Trace
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.console import Console
from gradscribe.widgets.tables.figures import FigureWindow, save_png

FIGURE = Figure((AxesData("Loss", "step", "loss", (Trace("line", (0, 1, 2), (3, 2, 1)),)),))


def test_the_output_shows_figures_and_gives_them_its_room(shown):
    console = shown(Console(), 360, 240)
    assert console.figures.isHidden()
    console.set_figures((FIGURE,))
    assert not console.figures.isHidden()
    assert console.view.isHidden()
    console.set_text("done\n")
    console.set_figures((FIGURE,))
    assert not console.view.isHidden()
    console.set_figures(())
    assert console.figures.isHidden()


def test_a_click_opens_a_figure_large(shown, qtbot):
    console = shown(Console(), 360, 240)
    console.set_figures((FIGURE,))
    qtbot.mouseClick(console.figures.views[0], Qt.MouseButton.LeftButton)
    (large,) = console.window().findChildren(FigureWindow)
    assert large.windowTitle() == "Loss"
    assert "Loss" in console.figures.views[0].accessibleName()
    large.close()


def test_a_figure_is_saved_wholly_or_not_at_all(qapp, tmp_path):
    theme = Theme.load("dark")
    assert save_png(FIGURE, theme, str(tmp_path / "loss")) == f"Saved as {tmp_path / 'loss.png'}"
    image = QImage(str(tmp_path / "loss.png"))
    assert (image.width(), image.height()) == (1040, 720)
    assert "cannot be written" in save_png(FIGURE, theme, str(tmp_path / "no" / "where.png"))
