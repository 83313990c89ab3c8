"""Tables of the page's data: equal items are stored once, and referred to by their index."""

import json

Data = dict[str, object]
"""An object of JSON."""


class Interned:
    """A table of items of plain data."""

    def __init__(self) -> None:
        self.items: list[object] = []
        self._places: dict[str, int] = {}

    def add(self, item: object) -> int:
        """Return the index of an item; a new one is appended."""
        name = json.dumps(item)
        if name not in self._places:
            self._places[name] = len(self.items)
            self.items.append(item)
        return self._places[name]


def add_change(timeline: list[int], position: int, state: int) -> None:
    """Note a state at a position, if it is new; positions come in order.

    A timeline alternates positions and the states from there on.
    """
    if not timeline or timeline[-1] != state:
        timeline += (position, state)
