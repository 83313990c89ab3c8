"""Every set-up has a small picture of its own data."""

import importlib.util
from pathlib import Path

import pytest

from gradscribe.app.training.setup import presets
from gradscribe.app.ui.start import setup_pictures

TOOL = Path(__file__).resolve().parents[2] / "tools" / "setup_pictures.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("setup_pictures", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("preset", presets.load(), ids=lambda preset: preset.name)
def test_the_stored_picture_is_that_of_the_data(tool, preset):
    stored = setup_pictures.load()[preset.name]
    assert stored == tool.picture_of(preset.setup), "make docs writes the pictures again"
    assert stored.points or stored.pixels
    side, levels = setup_pictures.SIDE, setup_pictures.LEVELS
    assert all(0 <= x <= side and 0 <= y <= side for x, y, _ in stored.points)
    assert all(0 <= level <= levels for row in stored.pixels for level in row)


def test_there_is_no_picture_of_anything_else():
    assert set(setup_pictures.load()) == {preset.name for preset in presets.load()}
