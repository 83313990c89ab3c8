"""Events of a graph for assistive technology: the focus moves, items come, go and change names."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleEvent

from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.graph.accessible.interfaces import AccessibleGraph

SETTLE_MS = 100
"""Time that a graph is at rest before its changes are reported; a film changes it at each tick."""


class GraphReporter(QObject):
    """Reporter of a graph's changes; it does nothing while no assistive technology listens."""

    def __init__(self, graph: AccessibleGraph, parent: QObject) -> None:
        super().__init__(parent)
        self._graph = graph
        self._known: list[str] = graph.keys()
        self._later = single_shot(self, self._report, SETTLE_MS)

    def report_selection(self) -> None:
        """Report that the focus has moved to the selected item, else to the graph itself."""
        widget = self._graph.widget()
        if not QAccessible.isActive() or widget is None or not widget.hasFocus():
            return
        moved = QAccessibleEvent(widget, QAccessible.Event.Focus)
        index = self._graph.index(self._graph.canvas.selected)
        if index >= 0:
            moved.setChild(index)
        QAccessible.updateAccessibility(moved)

    def report_content(self) -> None:
        """Report, once all is settled, which items came or went and whose name has changed."""
        if QAccessible.isActive():
            self._later.start()

    def _report(self) -> None:
        widget, graph = self._graph.widget(), self._graph
        if widget is None:
            return
        keys = graph.keys()
        if keys != self._known:
            self._known = keys
            for node in graph.made():
                if graph.index(node.key) < 0:
                    gone = QAccessibleEvent(node, QAccessible.Event.ObjectDestroyed)
                    QAccessible.updateAccessibility(gone)
                    graph.withdraw(node)
            QAccessible.updateAccessibility(
                QAccessibleEvent(widget, QAccessible.Event.ObjectReorder)
            )
        for node in graph.made():
            before = node.spoken
            if before and node.text(QAccessible.Text.Name) != before:
                QAccessible.updateAccessibility(
                    QAccessibleEvent(node, QAccessible.Event.NameChanged)
                )
