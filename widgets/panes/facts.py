"""The facts pane: properties of a tensor, an op or a module, and its source line."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from engine.tape import Node, Op, Tape, Value
from playback import held, symbols, words
from playback import text as texts
from playback.index import Index
from widgets.labels import Label
from widgets.panes.page import Page
from widgets.panes.pane import Pane
from widgets.panes.rows import Line, Rows
from widgets.theme import Theme

NAMED = 6
"""Maximum number of other tensors named in a fact."""
MOST_PARAMETERS = 40
MOST_ARGUMENTS = 24


class FactsPane(Pane):
    """Rows of facts, and the source line as a link."""

    order = 60
    ruled = True

    def __init__(self) -> None:
        super().__init__()
        self._rows = Rows(self, 0)
        self._source = QFrame(self)
        self._source.setProperty("row", "soft")
        self.code = Label("code", "", self._source)
        self.link = QPushButton("", self._source)
        self.link.setProperty("link", True)
        self.link.setCursor(Qt.CursorShape.PointingHandCursor)
        self.link.setToolTip("Go to this line")
        self.link.clicked.connect(self._go)
        self._line = 0
        row = QHBoxLayout(self._source)
        row.setContentsMargins(10, 7, 10, 7)
        row.addWidget(self.code, 1)
        row.addWidget(self.link, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addWidget(self._rows)
        self.column.addWidget(self._source)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)

    def show_page(self, page: Page) -> bool:
        """Show the facts of the selection; hidden without one."""
        found = facts(page)
        if not found:
            return False
        self._rows.say([Line(label, "", text, "fact") for label, text in found])
        self._line = line_of(page)
        self._source.setVisible(self._line > 0)
        # Not splitlines: a form feed does not end a line in Python.
        lines = page.source.split("\n")
        code = lines[self._line - 1].strip() if 0 < self._line <= len(lines) else "made by"
        self.code.say(code if len(code) <= 200 else code[:199] + "…")
        self.link.setText(f"line {self._line}")
        return True

    def _go(self) -> None:
        self.line_asked.emit(self._line)


def line_of(page: Page) -> int:
    """Return the source line that produced the selection, 0 if there is none."""
    chosen, value, op = page.selection, page.value, page.op
    if chosen is not None and chosen.kind in ("op", "wire") and op is not None and op.place.line:
        return op.place.line
    if value is not None and value.place.line:
        return value.place.line
    return op.place.line if op is not None else 0


def facts(page: Page) -> list[tuple[str, str]]:
    """Return (name, fact) pairs of the selection."""
    index, chosen, value = page.index, page.selection, page.value
    if index is None or chosen is None:
        return []
    found: list[tuple[str, str]] = []
    if chosen.kind == "module":
        found += _module_facts(page)
    if chosen.kind == "op" and page.op is not None:
        found += _op_facts(index, page.op)
    if value is not None:
        found += _value_facts(page, index, value)
    return found


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _value_facts(page: Page, index: Index, value: Value) -> list[tuple[str, str]]:
    shape = texts.shape(value.shape) if value.shape else "scalar ()"
    found = [
        ("shape", shape),
        ("dtype", value.dtype),
        ("device", value.device),
    ]
    if value.shape:
        found.append(("strides", f"({', '.join(map(str, value.stride))})"))
        found.append(("contiguous", _yes(value.contiguous)))
    found.append(("storage", _storage(index, value)))
    if value.offset:
        found.append(("starts at", f"element {value.offset:,} of its storage"))
    found.append(("leaf", _yes(value.is_leaf)))
    found.append(("requires_grad", _yes(value.requires_grad)))
    found.append(("version", _version(page, value)))
    if value.base is not None and value.base in index.values:
        found.append(("view of", words.called(index, value.base)))
    if value.maker:
        found.append(("made by", value.maker))
    node = index.nodes.get(value.node) if value.node is not None else None
    found.append(("grad_fn", node.name if node else "none"))
    if node is not None:
        found += _saved(index, node, page.position)
    users = [symbols.plain(index.op(number).op) for number in index.users.get(value.id, [])]
    if users:
        found.append(("used by", _few(list(dict.fromkeys(users)))))
    return found


def _saved(index: Index, node: Node, position: int) -> list[tuple[str, str]]:
    """Return the tensors saved by a backward node: total size, lifetime, and each tensor."""
    if not node.kept:
        return [("saved for backward", ", ".join(node.saved))] if node.saved else []
    until = "to the end"
    if node.freed is not None:
        until = f"{'freed at' if position >= node.freed else 'until'} event {node.freed:,}"
    found = [("saved for backward", f"{texts.size(held.of_node(node))}, {until}")]
    for saved in node.kept[:NAMED]:
        name = words.called(index, saved.value) if saved.value in index.values else ""
        parts = (name, texts.shape(saved.shape), texts.size(saved.size))
        found.append((f"saved {saved.name}", " · ".join(filter(None, parts))))
    if len(node.kept) > NAMED:
        found.append(("and more", texts.count(len(node.kept) - NAMED, "tensor")))
    return found


def _storage(index: Index, value: Value) -> str:
    home = index.home(value.id)
    sharing = {
        words.called(index, other.id)
        for other in index.values.values()
        if other.storage == value.storage
        and index.home(other.id) != home
        # Freed memory is reused: only views with the same storage share the same numbers.
        and (other.base is not None or value.base is not None)
    }
    return f"shared with {_few(sorted(sharing))}" if sharing else "its own"


def _few(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _version(page: Page, value: Value) -> str:
    versions = page.versions.until(value.id, page.position) if page.versions else []
    later = [v for v in versions if v > value.id]
    if later:
        return f"{value.version}, overwritten since"
    return str(value.version)


def _op_facts(index: Index, op: Op) -> list[tuple[str, str]]:
    found = [("op", op.op)]
    for place, arg in enumerate(op.args[:MOST_ARGUMENTS]):
        name = arg.keyword or f"input {place}"
        if arg.value is not None and arg.value in index.values:
            shape = index.values[arg.value].shape
            note = f" · {texts.shape(shape)}" if shape else ""
            found.append((name, words.called(index, arg.value) + note))
        elif arg.text and arg.text != "None":
            found.append((name, arg.text if len(arg.text) < 60 else arg.text[:59] + "…"))
    if len(op.args) > MOST_ARGUMENTS:
        found.append(("and more", texts.count(len(op.args) - MOST_ARGUMENTS, "input")))
    if op.scope:
        found.append(("module", op.scope))
    if op.inplace:
        found.append(("in place", "yes: it overwrote its input"))
    if not op.grad_mode:
        found.append(("gradients", "off (no_grad)"))
    return found


def _module_facts(page: Page) -> list[tuple[str, str]]:
    call, tape = page.call, page.tape
    if call is None or tape is None or page.selection is None:
        return []
    assert page.selection.call is not None
    inside = {page.selection.call}
    for number, other in enumerate(tape.calls):
        if other.parent in inside:
            inside.add(number)
    ops = sum(op.call in inside for op in tape.ops)
    found = [("kind", call.kind), ("parameters", f"{call.parameters:,}")]
    if call.about:
        found.append(("set up as", call.about))
    found.append(("ops inside", f"{ops:,}"))
    found.append(("mode", "training" if call.training else "evaluation"))
    if call.parent is not None:
        found.append(("inside", tape.calls[call.parent].name))
    return found + _parameters(tape, call.name)


def _parameters(tape: Tape, module: str) -> list[tuple[str, str]]:
    """Return name and shape of every parameter inside the module."""
    shapes = {
        value.name: texts.shape(value.shape)
        for value in tape.values
        if value.role == "parameter" and value.name.startswith(f"{module}.")
    }
    shown = list(shapes.items())[:MOST_PARAMETERS]
    more = len(shapes) - len(shown)
    return shown + ([("and more", f"{more:,}")] if more else [])


ENTRY = FactsPane
