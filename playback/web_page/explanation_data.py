"""Explanations as plain data: most of their texts and rows occur many times."""

from gradscribe.playback.explain.page import Explanation, ExplanationRow
from gradscribe.playback.web_page.interned import Interned


class Explanations:
    """A table of explanations: indices of title, subtitle, formula, words, origin, then rows."""

    def __init__(self) -> None:
        self.texts, self.rows, self._all = Interned(), Interned(), Interned()

    @property
    def items(self) -> list[object]:
        """The explanations."""
        return self._all.items

    def add(self, found: Explanation, title: str, subtitle: str) -> int:
        """Return the index of an explanation under a title and subtitle."""
        formula = found.formula if found.formula != title else ""
        texts = (title, subtitle, formula, found.words, found.origin)
        rows = [self.rows.add(_row(row)) for row in found.rows]
        return self._all.add([*map(self.texts.add, texts), *rows])


def _row(row: ExplanationRow) -> list[str]:
    """Return label, text, number and tone: pink for emphasised gradients, else blue."""
    tone = "backward" if "∂" in row.label or "grad" in row.label else "forward"
    return [row.label, row.text, row.number, tone[0] if row.emphasised else ""]
