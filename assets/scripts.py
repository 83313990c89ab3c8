"""Numbered scripts among the assets: the examples, the starting points of the shape lab."""

import re
from importlib import resources
from importlib.resources.abc import Traversable


def numbered_scripts(folder: str, without: tuple[str, ...] = ()) -> list[Traversable]:
    """Return the files ``NN_name.py`` in the rooms of a folder, by number.

    Args:
        folder: name of a folder of the assets.
        without: rooms to leave out.
    """
    rooms = (resources.files(__package__) / folder).iterdir()
    found = (
        entry
        for room in rooms
        if room.is_dir() and room.name not in without
        for entry in room.iterdir()
    )
    scripts = [entry for entry in found if re.fullmatch(r"\d\d_\w+\.py", entry.name)]
    return sorted(scripts, key=lambda entry: entry.name)
