"""Accessible interfaces of a graph, its cards and its wires.

Qt's cache of interfaces and Python both count on an interface, which neither may free alone: see
docs/decisions. What is made here stays referenced in `_REGISTERED` until it is withdrawn, and
nothing in it refers to the widget strongly.
"""

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF
from PySide6.QtGui import (
    QAccessible,
    QAccessibleActionInterface,
    QAccessibleInterface,
    QWindow,
)
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QWidget

from gradscribe.widgets.graph.accessible import text
from gradscribe.widgets.graph.canvas import GraphCanvas
from gradscribe.widgets.graph.paint.drawing import GraphDrawing

Relation = tuple[QAccessibleInterface, QAccessible.RelationFlag]

PRESS, TOGGLE, MENU = (
    QAccessibleActionInterface.pressAction(),
    QAccessibleActionInterface.toggleAction(),
    QAccessibleActionInterface.showMenuAction(),
)

# Qt's flag describes the item that is returned: what values flow to reads from this item.
TO_TARGET, TO_SOURCE = QAccessible.RelationFlag.FlowsFrom, QAccessible.RelationFlag.FlowsTo


@dataclass(frozen=True)
class GraphActions:
    """Actions of assistive technology on the card or wire with a key."""

    go_to: Callable[[str], None]
    toggle: Callable[[str], None]
    open_menu: Callable[[str], None]


class GraphNode(QAccessibleInterface):
    """A card or wire of a graph as a list item; valid as long as the graph has its key."""

    def __init__(self, graph: "AccessibleGraph", key: str) -> None:
        super().__init__()
        self._graph, self.key = weakref.ref(graph), key
        self._actions: GraphNodeActions | None = None
        self.spoken = ""
        """The name that was last given out."""

    @property
    def graph(self) -> "AccessibleGraph | None":
        """The graph with this item; None once the widget is gone."""
        graph = self._graph()
        return graph if graph is not None and graph.widget() is not None else None

    def isValid(self) -> bool:
        """Return whether the graph still shows the item; called by Qt, like all that follow."""
        graph = self.graph
        return graph is not None and graph.index(self.key) >= 0

    def object(self) -> QObject | None:  # type: ignore[override]
        """Return None: no widget stands behind it."""
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]
        """Return the window of the graph."""
        graph = self.graph
        widget = graph.widget() if graph is not None else None
        return widget.window().windowHandle() if widget is not None else None

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        """Return the graph's interface."""
        graph = self.graph
        widget = graph.widget() if graph is not None else None
        return QAccessible.queryAccessibleInterface(widget) if widget is not None else None

    def child(self, index: int) -> None:  # type: ignore[override]  # noqa: ARG002
        """Return None: it has no children."""
        return

    def childAt(self, x: int, y: int) -> None:  # type: ignore[override]  # noqa: ARG002
        """Return None: it has no children."""
        return

    def childCount(self) -> int:
        """Return 0."""
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:  # noqa: ARG002
        """Return -1: it has no children."""
        return -1

    def focusChild(self) -> None:  # type: ignore[override]
        """Return None: it has no children."""
        return

    def role(self) -> QAccessible.Role:
        """Return the role of an entry of a list."""
        return QAccessible.Role.ListItem

    def text(self, kind: QAccessible.Text) -> str:
        """Return the short name, or the whole description."""
        graph = self.graph
        if graph is None or not self.isValid():
            return ""
        if kind == QAccessible.Text.Name:
            self.spoken = text.label(graph.canvas.drawing, self.key)
            return self.spoken
        if kind == QAccessible.Text.Description:
            return text.describe(graph.canvas.drawing, self.key)
        return ""

    def setText(self, kind: QAccessible.Text, words: str) -> None:
        """Ignore it: numbers are changed in the program."""

    def rect(self) -> QRect:
        """Return the item's place on the screen."""
        graph = self.graph
        return graph.rect_of(self.key) if graph is not None else QRect()

    def state(self) -> QAccessible.State:
        """Return whether it is selected, focused, in view, and folded."""
        state, graph = QAccessible.State(), self.graph
        widget = graph.widget() if graph is not None else None
        if graph is None or widget is None or not self.isValid():
            state.invalid = True
            return state
        state.focusable = state.selectable = True
        state.selected = graph.canvas.selected == self.key
        state.focused = bool(state.selected) and widget.hasFocus()
        inside = QRect(widget.mapToGlobal(QPoint()), widget.size())
        state.offscreen = not inside.intersects(self.rect())
        state.invisible = not widget.isVisible()
        stage = graph.canvas.drawing.stage
        if self.key in stage.cards:
            card = stage.cards[self.key]
            state.expandable = state.collapsed = card.kind == "module"
        return state

    def relations(self, match: QAccessible.RelationFlag | None = None) -> list[Relation]:
        """Return the items that values flow to from here, and those that they come from."""
        graph = self.graph
        if graph is None or not self.isValid():
            return []
        stage = graph.canvas.drawing.stage
        if self.key in stage.cards:
            targets = [stage.wires[wire].target for wire in stage.out_of[self.key]]
            sources = [stage.wires[wire].source for wire in stage.into[self.key]]
        else:
            wire = stage.wires[self.key]
            targets, sources = [wire.target], [wire.source]
        ways = [(key, TO_TARGET) for key in dict.fromkeys(targets)]
        ways += [(key, TO_SOURCE) for key in dict.fromkeys(sources)]
        wanted = [(key, way) for key, way in ways if match is None or match & way]
        return [(graph.node(key), way) for key, way in wanted]

    def interface_cast(  # type: ignore[override]
        self, kind: QAccessible.InterfaceType
    ) -> QAccessibleActionInterface:
        """Return the actions, for any other kind an object that PySide turns into a null pointer.

        PySide takes whatever is returned for an object of Qt's: None, 0 or an address would crash.
        """
        if kind != QAccessible.InterfaceType.ActionInterface or not self.isValid():
            return _nothing()
        if self._actions is None:
            self._actions = GraphNodeActions(self)
        return self._actions


class GraphNodeActions(QAccessibleActionInterface):
    """Actions on a card or wire: select it, open or close a module, open its menu."""

    def __init__(self, node: GraphNode) -> None:
        super().__init__()
        self._node = weakref.ref(node)

    def actionNames(self) -> list[str]:
        """Return the names of the actions."""
        node = self._node()
        graph = node.graph if node is not None else None
        if node is None or graph is None:
            return []
        card = graph.canvas.drawing.stage.cards.get(node.key)
        folds = card is not None and (card.kind == "module" or bool(card.frame))
        return [PRESS, *([TOGGLE] if folds else []), MENU]

    def doAction(self, name: str) -> None:
        """Carry out an action."""
        node = self._node()
        graph = node.graph if node is not None else None
        if node is None or graph is None or name not in self.actionNames():
            return
        actions = graph.actions
        act = {PRESS: actions.go_to, TOGGLE: actions.toggle, MENU: actions.open_menu}
        act[name](node.key)

    def keyBindingsForAction(self, name: str) -> list[str]:
        """Return the keys of an action."""
        return ["Return"] if name == TOGGLE else ["Shift+F10"] if name == MENU else []


class AccessibleGraphWidget(QAccessibleWidget):
    """A graph widget as a list: cards in order of execution, wires, and the widgets on top."""

    def __init__(self, graph: "AccessibleGraph", widget: QWidget) -> None:
        super().__init__(widget, QAccessible.Role.List)
        self._graph = weakref.ref(graph)

    def childCount(self) -> int:
        """Return the number of cards, wires and widgets on top of the graph."""
        graph = self._graph()
        return len(graph.keys()) + len(graph.overlays()) if graph is not None else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """Return the card or wire with that index, made when it is first asked for, or a widget."""
        graph = self._graph()
        if graph is None or index < 0:
            return None
        keys = graph.keys()
        if index < len(keys):
            return graph.node(keys[index])
        overlays = graph.overlays()[index - len(keys) :]
        return QAccessible.queryAccessibleInterface(overlays[0]) if overlays else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Return the index of a card, a wire or a widget on top; -1 for anything else."""
        graph = self._graph()
        if graph is None:
            return -1
        if isinstance(child, GraphNode):
            return graph.index(child.key)
        overlays, thing = graph.overlays(), child.object()
        return len(graph.keys()) + overlays.index(thing) if thing in overlays else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """Return what is at a point of the screen: a widget on top, else a card or a wire."""
        graph = self._graph()
        widget = graph.widget() if graph is not None else None
        if graph is None or widget is None:
            return None
        point = widget.mapFromGlobal(QPoint(x, y))
        # The last child lies on top.
        for overlay in reversed(graph.overlays()):
            if overlay.geometry().contains(point):
                return QAccessible.queryAccessibleInterface(overlay)
        key = graph.canvas.key_at(QPointF(point))
        return graph.node(key) if graph.index(key) >= 0 else None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        """Return the selected card or wire while the graph has the focus, or a focused widget."""
        graph = self._graph()
        widget = graph.widget() if graph is not None else None
        if graph is None or widget is None:
            return None
        focused = QApplication.focusWidget()
        if focused is None or not widget.isAncestorOf(focused):
            return None
        if focused is not widget:
            return QAccessible.queryAccessibleInterface(focused)
        key = graph.canvas.selected
        return graph.node(key) if graph.index(key) >= 0 else None


class AccessibleGraph:
    """The children of a graph widget: made one at a time, withdrawn when they leave the graph."""

    def __init__(self, widget: QWidget, canvas: GraphCanvas, actions: GraphActions) -> None:
        self._widget = weakref.ref(widget)
        self.canvas, self.actions = canvas, actions
        self._nodes: dict[str, GraphNode] = {}
        self._drawing: GraphDrawing | None = None
        self._keys: list[str] = []
        self._index: dict[str, int] = {}
        _REGISTERED[id(self)] = self._nodes
        # Not a method: Qt would drop one of an object that is gone already.
        token = id(self)
        widget.destroyed.connect(lambda: _forget(token))

    def widget(self) -> QWidget | None:
        """Return the widget; None once it is gone."""
        widget = self._widget()
        return widget if widget is not None and shiboken6.isValid(widget) else None

    def keys(self) -> list[str]:
        """Return the keys of the cards, then of the wires."""
        drawing = self.canvas.drawing
        if drawing is not self._drawing:
            self._drawing = drawing
            self._keys = [*drawing.stage.card_keys, *drawing.stage.wire_keys]
            self._index = {key: index for index, key in enumerate(self._keys)}
        return self._keys

    def overlays(self) -> list[QWidget]:
        """Return the visible widgets on top of the graph: breadcrumbs, buttons, legends."""
        widget = self.widget()
        children = widget.children() if widget is not None else []
        return [
            child
            for child in children
            if isinstance(child, QWidget) and not child.isWindow() and not child.isHidden()
        ]

    def index(self, key: str) -> int:
        """Return the index of a card or wire, -1 if the graph has none with that key."""
        self.keys()
        return self._index.get(key, -1)

    def node(self, key: str) -> GraphNode:
        """Return the interface of a card or wire."""
        found = self._nodes.get(key)
        if found is None or not shiboken6.isValid(found):
            found = self._nodes[key] = GraphNode(self, key)
            QAccessible.registerAccessibleInterface(found)
        return found

    def made(self) -> tuple[GraphNode, ...]:
        """Return the interfaces made so far."""
        return tuple(self._nodes.values())

    def withdraw(self, node: GraphNode) -> None:
        """Delete the interface of an item."""
        del self._nodes[node.key]
        _delete(node)

    def rect_of(self, key: str) -> QRect:
        """Return the place of a card, or of the ends of a wire, on the screen."""
        widget, stage = self.widget(), self.canvas.drawing.stage
        if widget is None or self.index(key) < 0:
            return QRect()
        if key in stage.cards:
            box = stage.boxes[key]
        else:
            x, y, _ = stage.track(key).at(0.5)
            box = QRectF(x - 4, y - 4, 8, 8)
        inside = self.canvas.camera.box_to_view(box).toAlignedRect()
        return inside.translated(widget.mapToGlobal(QPoint()))


_REGISTERED: dict[int, dict[str, GraphNode]] = {}
"""Every interface of an item that Qt's cache may hold, for each graph."""

_WIDGETS: dict[int, QAccessibleWidget] = {}
"""The interfaces of graph widgets, which Qt deletes together with their widgets."""


@functools.cache
def _nothing() -> QAccessibleActionInterface:
    nothing = shiboken6.wrapInstance(0, QAccessibleActionInterface)
    assert isinstance(nothing, QAccessibleActionInterface)
    return nothing


def _delete(node: GraphNode) -> None:
    # The cache deletes all at the end of the application, before Python lets go of them.
    if shiboken6.isValid(node):
        QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(node))


def _forget(token: int) -> None:
    for node in _REGISTERED.pop(token, {}).values():
        _delete(node)
    _WIDGETS.pop(token, None)


def _make(_: str, thing: QObject) -> QAccessibleInterface | None:
    graph = getattr(thing, "accessible", None)
    if not isinstance(graph, AccessibleGraph) or not isinstance(thing, QWidget):
        return None
    made = _WIDGETS.get(id(graph))
    if made is None or not shiboken6.isValid(made):
        made = _WIDGETS[id(graph)] = AccessibleGraphWidget(graph, thing)
    return made


@functools.cache
def install_factory() -> None:
    """Let Qt use the interfaces of this module; more than once it has no effect."""
    QAccessible.installFactory(_make)
