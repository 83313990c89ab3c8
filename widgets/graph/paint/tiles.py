"""Labels placed tile by tile, only in view, so that long tapes cost no more than short ones.

A wire belongs to the tile that contains the centre of its label area. Tiles ignore each other's
labels, so a label stands at the same place whatever part of the graph is in view.
"""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QRectF

from gradscribe.widgets.graph.paint.spatial_index import Tile
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.paint.wire.labels import Box, LabelPlacer, LabelRequest
from gradscribe.widgets.graph.paint.wire.wires import WireLabel


class LabelTiles:
    """The labels of a stage, placed on demand.

    ``wish`` returns the labels that wires (by number) want now, ``taken`` the boxes within an area
    that no label may cover.
    """

    def __init__(
        self,
        stage: Stage,
        wish: Callable[[list[int]], list[LabelRequest]],
        taken: Callable[[QRectF], list[Box]],
    ) -> None:
        bounds = stage.bounds.adjusted(-12, -12, 24, 18)
        edges = (bounds.left(), bounds.top(), bounds.right(), bounds.bottom())
        self._placer = LabelPlacer(stage.points, stage.owners, edges)
        self._wish, self._taken = wish, taken
        self._wires = {tile: _labelable(stage, wires) for tile, (wires, _) in stage.tiles.items()}
        self._areas = {tile: area for tile, (_, area) in stage.tiles.items()}
        self._placed: dict[Tile, dict[str, WireLabel]] = {}
        self.scale = 1.0

    def clear(self) -> None:
        """Drop every place: the wires' wishes have changed."""
        self._placed.clear()

    def keep(self, area: QRectF) -> None:
        """Drop the places outside of ``area`` (scene units), the part in view from now on."""
        for tile in [tile for tile in self._placed if not self._areas[tile].intersects(area)]:
            del self._placed[tile]

    def labels_near(self, area: QRectF) -> Iterator[dict[str, WireLabel]]:
        """Yield the labels of the wires near ``area`` (scene units) by key, tile by tile."""
        for tile, covered in self._areas.items():
            if covered.intersects(area):
                yield self._at(tile)

    def within(self, area: QRectF) -> dict[str, WireLabel]:
        """Return the labels of the wires near ``area`` (scene units) by key, possibly more."""
        return {key: label for labels in self.labels_near(area) for key, label in labels.items()}

    def all(self) -> dict[str, WireLabel]:
        """Return every label of the picture."""
        return {key: label for tile in self._areas for key, label in self._at(tile).items()}

    def placed(self) -> dict[str, WireLabel]:
        """Return the labels that are placed now, by key."""
        return {key: label for placed in self._placed.values() for key, label in placed.items()}

    def renew(self) -> list[QRectF]:
        """Place the current labels again; return the boxes of those that changed."""
        before, tiles = self.placed(), list(self._placed)
        self._placed = {}
        after = {key: label for tile in tiles for key, label in self._at(tile).items()}
        changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
        return [labels[key].box for labels in (before, after) for key in changed if key in labels]

    def _at(self, tile: Tile) -> dict[str, WireLabel]:
        if tile not in self._placed:
            wishes = self._wish(self._wires[tile][::-1]) if self.scale else []
            taken = self._taken(self._areas[tile]) if wishes else []
            self._placed[tile] = self._placer.place(wishes, taken, self.scale)
        return self._placed[tile]


def _labelable(stage: Stage, wires: list[int]) -> list[int]:
    """Return the wires that may be labelled: in a crowd, labels would cover each other."""
    keys, crowded = stage.wire_keys, stage.crowded
    return [wire for wire in wires if keys[wire] not in crowded] if crowded else wires
