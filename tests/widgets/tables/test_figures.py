"""Figures of a program are painted as they were drawn, and saved into files."""

import io

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure as MplFigure
from msgspec.structs import replace
from PySide6.QtGui import QImage

from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.plots.figures.picture import FigurePicture
from gradscribe.widgets.tables.console import Console
from gradscribe.widgets.tables.figures import save_figure


def drawn(kind, image=False):
    figure, data = MplFigure(), io.BytesIO()
    axes = figure.add_subplot()
    axes.imshow([[0, 1]], cmap="gray", aspect="auto") if image else axes.plot([3, 2, 1])
    with mpl.rc_context({"svg.fonttype": "path"}):
        figure.savefig(data, format=kind)
    return data.getvalue()


@pytest.fixture(scope="module")
def figure():
    return Figure(drawn("svg"), "svg", 460.8, 345.6, "Loss", "1 line")


def test_a_figure_is_saved_wholly_or_not_at_all(qapp, tmp_path, figure):
    picture = FigurePicture(figure)
    assert save_figure(picture, str(tmp_path / "loss")) == f"Saved as {tmp_path / 'loss.png'}"
    image = QImage(str(tmp_path / "loss.png"))
    assert (image.width(), image.height()) == (922, 691)
    save_figure(picture, str(tmp_path / "loss.svg"))
    assert (tmp_path / "loss.svg").read_bytes() == figure.picture
    assert "cannot be written" in save_figure(picture, str(tmp_path / "no" / "where.png"))


def test_a_figure_is_saved_as_the_file_that_the_program_made(qapp, tmp_path, figure):
    made = Figure(figure.picture, "svg", 460.8, 345.6, name="a.pdf", file=b"%PDF", file_type="pdf")
    save_figure(FigurePicture(made), str(tmp_path / "a.pdf"))
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF"


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_an_image_in_a_figure_is_painted(qapp, kind):
    picture = FigurePicture(Figure(drawn(kind, image=True), kind, 460.8, 345.6))
    image = picture.image()
    assert picture.error == ""
    seen = [image.pixelColor(int(image.width() * x), image.height() // 2) for x in (0.3, 0.7)]
    assert [color.name() for color in seen] == ["#000000", "#ffffff"]


def test_files_that_were_not_written_are_named(shown, figure):
    console = shown(Console(), 360, 240)
    console.set_figures((figure, replace(figure, name="a.png", is_written=True)))
    assert console.not_written.isHidden()
    console.set_figures(tuple(replace(figure, name=f"{name}.png") for name in "abcd"))
    assert "a.png, b.png and 2 more were not written" in console.not_written.text()


@pytest.mark.parametrize("data", [b"<svg", b"<svg viewBox='0 0 1 1'><path d='M 1'/></svg>"])
def test_a_picture_that_cannot_be_read_is_told(qapp, data):
    picture = FigurePicture(Figure(data, "svg", 100, 100))
    picture.read()
    assert picture.image().isNull() or data.endswith(b"</svg>")
    assert picture.error or data.endswith(b"</svg>")
