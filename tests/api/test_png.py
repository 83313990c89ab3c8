"""SVG as PNG: drawn elsewhere, or refused in words."""

import importlib.util
import io
import sys

import pytest
from PIL import Image

from gradscribe.png import draw_png

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" viewBox="0 0 30 20">'
    '<rect width="30" height="20" fill="#ff0000"/></svg>'
)


def test_it_has_the_size_and_the_colour_of_the_svg():
    image = Image.open(io.BytesIO(draw_png(SVG, 2.0)))
    assert image.size == (60, 40)
    assert image.convert("RGB").getpixel((30, 20)) == (255, 0, 0)


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValueError, match="positive"):
        draw_png(SVG, scale)


def test_without_qt_the_message_names_the_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="needs PySide6-Essentials"):
        draw_png(SVG, 1.0)


def test_a_process_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(RuntimeError, match="to_png failed: code 1"):
        draw_png(SVG, 1.0)
