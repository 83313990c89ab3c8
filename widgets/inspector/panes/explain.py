"""The explain pane: the op's formula with the numbers of this run."""

from gradscribe.playback.explain import Explanation
from gradscribe.playback.lab.axes import AxisTable
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes import titles
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList, Tone
from gradscribe.widgets.lab.axes_view import AxesView


class ExplainPane(Pane):
    """Formula, text, and a row per number; rows being computed now are emphasised."""

    order = 20

    def __init__(self) -> None:
        super().__init__()
        self._formula = Label("formula", "", self)
        self._words = Label("words", "", self)
        self._rows = RowList(self)
        self.axes = AxesView(self)
        self._origin = Label("caption", "", self)
        tip = tr("Which cells go into which, and the Jacobian (Ctrl+L)")
        self.lab = push_button(tr("Show cell by cell"), self, self._ask_lab, tip=tip)
        self.lab.setMinimumWidth(1)
        self._op: int | None = None
        for widget in (self._formula, self._words, self.axes, self._rows, self._origin):
            self.column.addWidget(widget)
        self.column.addLayout(hbox(None, self.lab, STRETCH))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)
        self.axes.set_theme(theme)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the page's explanation."""
        explanation = page.explanation
        if explanation is None or not (
            explanation.formula or explanation.words or explanation.rows
        ):
            return False
        # A leaf's formula is its name, which is in the title already.
        formula = explanation.formula if explanation.formula != titles.title(page)[0] else ""
        self._formula.say(formula)
        self._formula.setVisible(bool(formula))
        self._words.say(explanation.words)
        self._words.setVisible(bool(explanation.words))
        self._rows.say(explanation_rows(explanation))
        self._rows.setVisible(bool(explanation.rows))
        self.axes.show_axes(explanation.axes or AxisTable(""))
        self.axes.setVisible(explanation.axes is not None)
        self._origin.say(
            tr("Source: {origin}", origin=explanation.origin) if explanation.origin else ""
        )
        self._origin.setVisible(bool(explanation.origin))
        self._op = page.selection.op if page.selection is not None else None
        self.lab.setVisible(self._op is not None)
        return True

    def _ask_lab(self) -> None:
        if self._op is not None:
            self.lab_requested.emit(self._op)


def explanation_rows(explanation: Explanation) -> list[RowContent]:
    """Return the rows; emphasised rows are pink for gradients, else blue."""
    rows: list[RowContent] = []
    for row in explanation.rows:
        tone: Tone = "plain"
        if row.emphasised:
            tone = "backward" if "∂" in row.label or "grad" in row.label else "forward"
        rows.append(RowContent(row.label, row.text, row.number, tone))
    return rows


ENTRY = ExplainPane
