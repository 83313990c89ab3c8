"""The differences between two runs as tints for the cards of their pictures."""

from collections import defaultdict

from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.differences import Difference, Kind
from gradscribe.playback.graph.coloring import ColorLegend, Tint
from gradscribe.playback.graph.picture import Card, CardLook
from gradscribe.playback.translation import tr

GROUPS = (tr("Value differs"), tr("Only on this side"), tr("Gradient differs"))
_COLOURS: dict[Kind, int] = {
    "value": 0,
    "setting": 0,
    "left": 1,
    "right": 1,
    "op": 1,
    "gradient": 2,
}
"""Kind of difference -> index in `GROUPS`."""
_WORDS: dict[Kind, str] = {
    "left": tr("only here"),
    "right": tr("only here"),
    "op": tr("another op"),
}
_FAILS = 1
"""Index in `GROUPS` of the card in which a program failed."""


class DifferenceTinter:
    """The differences as tints for the cards of one side's picture."""

    def __init__(self, compared: Comparison, left: bool) -> None:
        self._index = compared.left if left else compared.right
        fails = "left fails" if left else "right fails"
        self._fails = any(difference.kind == fails for difference in compared.differences)
        self._found: dict[int, list[Difference]] = defaultdict(list)
        for difference in compared.differences:
            value = difference.left if left else difference.right
            if value is not None:
                self._found[value].append(difference)

    def tint(self, card: Card, look: CardLook | None) -> Tint | None:
        """Return the differences of a card up to the position; None for none."""
        if look is None or not look.reached:
            return None
        if card.failed and look.failed and self._fails:
            return Tint(tr("fails here"), "groups", group=_FAILS, alarm=True)
        values = [card.value] if not card.ops else []
        values += [value for op in card.ops for value in self._index.op(op).outputs]
        found = [
            item for value in values if value is not None for item in self._found.get(value, ())
        ]
        if look.gradient is None:
            found = [item for item in found if item.kind != "gradient"]
        if not found:
            return None
        group = _COLOURS[found[0].kind]
        if card.kind == "module":
            return Tint(
                tr("≠ {found_count} inside", found_count=len(found)),
                "groups",
                group=group,
                alarm=True,
            )
        kinds = [item.kind for item in found]
        if kinds[0] in _WORDS:
            return Tint(_WORDS[kinds[0]], "groups", group=group, alarm=True)
        words = tr(" and ").join(dict.fromkeys(kinds))
        return Tint(f"≠ {words}", "groups", group=group, alarm=True)

    def key(self) -> ColorLegend:
        """Return the legend of the colours."""
        return ColorLegend(tr("What differs"), "groups", groups=GROUPS)
