"""The window paints the figures of programs as Matplotlib itself does."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.plots.figures.picture import FigurePicture
from tests.engine.plotting.programs import HEAD, PROGRAMS

DRAW = """
import json, sys, matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
for name, source in json.load(sys.stdin).items():
    plt.close("all")
    matplotlib.rcdefaults()
    exec(source, {})
    matplotlib.rcParams["svg.fonttype"] = "path"
    plt.gcf().savefig(f"{sys.argv[1]}/{name}.svg")
    plt.gcf().savefig(f"{sys.argv[1]}/{name}.png", dpi=72)
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with each program's figure as SVG and PNG, by plain Matplotlib."""
    folder = tmp_path_factory.mktemp("figures")
    programs = json.dumps({name: HEAD + source for name, source in PROGRAMS.items()})
    command = [sys.executable, "-c", DRAW, str(folder)]
    subprocess.run(command, input=programs, text=True, check=True)
    return folder


def painted(data, kind):
    picture = FigurePicture(Figure(data, kind, 460.8, 345.6))
    picture.read()
    assert picture.error == ""
    image = picture.image().convertToFormat(QImage.Format.Format_RGB32)
    smooth = image.scaled(image.width() // 2, image.height() // 2) if kind == "svg" else image
    pixels = np.frombuffer(smooth.constBits(), np.uint8)
    return pixels.reshape(smooth.height(), smooth.width(), 4)[:, :, 2::-1].astype(int)


def blurred(pixels, side=8):
    high, wide = (size // side * side for size in pixels.shape[:2])
    blocks = pixels[:high, :wide].reshape(high // side, side, wide // side, side, 3)
    return blocks.mean(axis=(1, 3))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_figure_looks_as_matplotlib_draws_it(qapp, drawn, name):
    svg = (drawn / f"{name}.svg").read_bytes()
    if any(part in svg for part in (b"<filter", b"<linearGradient", b"<text")):
        pytest.skip("travels as PNG")
    seen = blurred(painted(svg, "svg"))
    png = np.asarray(Image.open(drawn / f"{name}.png").convert("RGB")).astype(int)
    plain = blurred(png)
    high, wide = (min(pair) for pair in zip(seen.shape[:2], plain.shape[:2], strict=True))
    apart = np.abs(seen[:high, :wide] - plain[:high, :wide])
    assert apart.mean() < 2.5
    assert np.quantile(apart, 0.99) < 40


def test_a_png_is_shown_as_it_is(qapp):
    numbers = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(numbers).save(data, "PNG")
    assert (painted(data.getvalue(), "png") == numbers).all()


def test_a_picture_is_painted_into_its_area_and_nowhere_else(qapp, drawn):
    picture = FigurePicture(Figure((drawn / "line.svg").read_bytes(), "svg", 460.8, 345.6))
    picture.read()
    image = QImage(200, 200, QImage.Format.Format_RGB32)
    image.fill("red")
    with QPainter(image) as painter:
        picture._svg.paint(painter, QRectF(50, 50, 100, 75))
    assert image.pixelColor(20, 20).name() == "#ff0000"
    assert image.pixelColor(100, 140).name() == "#ff0000"
    assert image.pixelColor(52, 52).name() == "#ffffff"
