"""Small pictures of the data of set-ups, made by ``tools/setup_pictures.py``."""

from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

FILE = "setup_pictures.json"
SIDE = 100
"""Points lie in a square of this side; y grows upwards."""
LEVELS = 9
"""The darkest level of a pixel."""


class SetupPicture(Struct, frozen=True):
    """Points as (x, y, class), class -1 where the target is a number; or rows of pixels."""

    points: tuple[tuple[int, int, int], ...] = ()
    pixels: tuple[tuple[int, ...], ...] = ()


@cache
def load() -> dict[str, SetupPicture]:
    """Return the pictures by the names of the set-ups' files, without number and suffix."""
    folder = resources.files("gradscribe.assets")
    return msgspec.json.decode((folder / FILE).read_bytes(), type=dict[str, SetupPicture])
