"""Write the small pictures of the data of set-ups."""

import pathlib

import msgspec
import torch

from gradscribe.app.training.setup import presets
from gradscribe.app.ui.start import setup_pictures
from gradscribe.app.ui.start.setup_pictures import LEVELS, SIDE, SetupPicture
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Data

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "assets"
POINTS = 70
"""Most points of a picture."""


def picture_of(setup: Setup) -> SetupPicture:
    """Return the picture of a set-up's data, of seed 0; an empty one for sequences."""
    entry = catalogue.zoo_entries("data")[setup.data.name]
    assert isinstance(entry, Data)
    options = {option.name: option.default for option in entry.options} | setup.data.options
    made = entry.make(rng=torch.Generator().manual_seed(0), **options)
    x, y = made[0], made[1]
    assert isinstance(x, torch.Tensor)
    assert isinstance(y, torch.Tensor)
    if x.ndim == 4:
        return SetupPicture(pixels=_pixels(x[0, 0]))
    if not x.is_floating_point():
        return SetupPicture(pixels=_pixels(torch.cat([x[:6], y[:6]], dim=1).float()))
    x, y = x[:: max(1, len(x) // POINTS)], y[:: max(1, len(y) // POINTS)]
    if x.shape[1] == 1:
        points = torch.cat([x, y.reshape(len(x), -1)[:, :1]], dim=1)
        kinds = [-1] * len(x)
    else:
        points = x[:, :2]
        is_number = y.is_floating_point()
        kinds = [-1] * len(x) if is_number and y.unique().numel() > 12 else _kinds(y)
    low, high = points.min(dim=0).values, points.max(dim=0).values
    placed = ((points - low) / (high - low) * SIDE).round().int().tolist()
    return SetupPicture(tuple((a, b, kind) for (a, b), kind in zip(placed, kinds, strict=True)))


def _kinds(y: torch.Tensor) -> list[int]:
    return y.reshape(len(y), -1)[:, 0].unique(return_inverse=True)[1].tolist()


def _pixels(values: torch.Tensor) -> tuple[tuple[int, ...], ...]:
    low, high = values.min(), values.max()
    levels = ((values - low) / (high - low) * LEVELS).round().int().tolist()
    return tuple(tuple(row) for row in levels)


def main() -> None:
    """Make every set-up's data and write its picture."""
    made = {preset.name: picture_of(preset.setup) for preset in presets.load()}
    rows = (f'"{name}":{msgspec.json.encode(picture).decode()}' for name, picture in made.items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    (FOLDER / setup_pictures.FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
