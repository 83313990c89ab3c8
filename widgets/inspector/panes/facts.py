"""The facts pane: properties of a tensor, an op or a module, and its source line."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from gradscribe.engine.protocol.tape import Node, Op, Tape, Value
from gradscribe.playback.explain import module_api
from gradscribe.playback.lab import dtypes
from gradscribe.playback.tape import event_text, saved_memory
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.text import symbols
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import hbox, push_button
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

MAX_NAMES = 6
"""Maximum number of other tensors named in a fact."""
MAX_PARAMETERS = 40
MAX_ARGUMENTS = 24


class FactsPane(Pane):
    """Rows of facts, and the source line as a link."""

    order = 60
    ruled = True

    def __init__(self) -> None:
        super().__init__()
        self._rows = RowList(self, 0)
        self._source = QFrame(self)
        self._source.setProperty("row", "soft")
        self.code = Label("code", "", self._source)
        self.link = push_button("", self._source, self._go, "link", tip=tr("Go to this line"))
        self.link.setCursor(Qt.CursorShape.PointingHandCursor)
        self._line = 0
        link = (self.link, Qt.AlignmentFlag.AlignTop)
        hbox(self._source, (self.code, 1), link, margins=(10, 7, 10, 7))
        self.column.addWidget(self._rows)
        self.column.addWidget(self._source)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the facts of the selection; hidden without one."""
        rows = facts(page)
        if not rows:
            return False
        self._rows.say([RowContent(label, "", text, "fact") for label, text in rows])
        self._line = line_of(page)
        self._source.setVisible(self._line > 0)
        # Not splitlines: a form feed does not end a line in Python.
        lines = page.source.split("\n")
        code = lines[self._line - 1].strip() if 0 < self._line <= len(lines) else tr("made by")
        self.code.say(code if len(code) <= 200 else code[:199] + "…")
        self.link.setText(tr("line {line}", line=self._line))
        return True

    def _go(self) -> None:
        self.line_requested.emit(self._line)


def line_of(page: InspectorPage) -> int:
    """Return the source line that produced the selection, 0 if there is none."""
    chosen, value, op = page.selection, page.value, page.op
    if chosen is not None and chosen.kind in ("op", "wire") and op is not None and op.place.line:
        return op.place.line
    if value is not None and value.place.line:
        return value.place.line
    return op.place.line if op is not None else 0


def facts(page: InspectorPage) -> list[tuple[str, str]]:
    """Return (name, fact) pairs of the selection."""
    index, chosen, value = page.index, page.selection, page.value
    if index is None or chosen is None:
        return []
    rows: list[tuple[str, str]] = []
    if chosen.kind == "module":
        rows += _module_facts(page)
    if chosen.kind == "op" and page.op is not None:
        rows += _op_facts(index, page.op)
    if value is not None:
        rows += _value_facts(page, index, value)
    return rows


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _value_facts(page: InspectorPage, index: Index, value: Value) -> list[tuple[str, str]]:
    shape = texts.shape(value.shape) if value.shape else tr("scalar ()")
    rows = [(tr("shape"), shape), ("dtype", value.dtype), ("device", value.device)]
    if value.shape:
        rows.append((tr("strides"), f"({', '.join(map(str, value.stride))})"))
        rows.append((tr("contiguous"), _yes(value.contiguous)))
    if (memory := _memory(value)) != "":
        rows.append((tr("memory"), memory))
    if value.examples:
        rows.append(
            (
                "numbers",
                tr("of the first of {examples:,} examples in vmap", examples=value.examples),
            )
        )
    rows.append((tr("storage"), _storage(index, value)))
    if value.offset:
        rows.append((tr("starts at"), tr("element {offset:,} of its storage", offset=value.offset)))
    rows.append((tr("leaf"), _yes(value.is_leaf)))
    rows.append(("requires_grad", _yes(value.requires_grad)))
    rows.append((tr("version"), _version(page, value)))
    if value.base is not None and value.base in index.values:
        rows.append((tr("view of"), event_text.value_name(index, value.base)))
    if value.maker:
        rows.append((tr("made by"), value.maker))
    node = index.nodes.get(value.node) if value.node is not None else None
    rows.append(("grad_fn", node.name if node else tr("none")))
    if node is not None:
        rows += _saved(index, node, page.position)
    users = [
        symbols.canonical_name(index.op(number).op) for number in index.users.get(value.id, [])
    ]
    if users:
        rows.append((tr("used by"), _joined(list(dict.fromkeys(users)))))
    return rows


def _memory(value: Value) -> str:
    """Return the bytes of a tensor's elements, and what they would be in other dtypes."""
    if value.dtype not in dtypes.DTYPES:
        return ""
    own = texts.size(dtypes.bytes_in(value.shape, value.dtype))
    others = [
        tr("{size} in {other}", size=texts.size(dtypes.bytes_in(value.shape, other)), other=other)
        for other in dtypes.other_dtypes(value.dtype)
    ]
    return ", ".join([own, *others])


def _saved(index: Index, node: Node, position: int) -> list[tuple[str, str]]:
    """Return the tensors saved by a backward node: total size, lifetime, and each tensor."""
    if not node.kept:
        return [(tr("saved for backward"), ", ".join(node.saved))] if node.saved else []
    until = tr("to the end")
    if node.freed is not None:
        until = (
            tr("freed at event {freed:,}", freed=node.freed)
            if position >= node.freed
            else tr("until event {freed:,}", freed=node.freed)
        )
    rows = [
        (tr("saved for backward"), f"{texts.size(saved_memory.node_saved_bytes(node))}, {until}")
    ]
    for saved in node.kept[:MAX_NAMES]:
        name = event_text.value_name(index, saved.value) if saved.value in index.values else ""
        parts = (name, texts.shape(saved.shape), texts.size(saved.size))
        rows.append((tr("saved {name}", name=saved.name), " · ".join(filter(None, parts))))
    if len(node.kept) > MAX_NAMES:
        rows.append(
            (
                tr("and more"),
                ngettext("{count:,} tensor", "{count:,} tensors", len(node.kept) - MAX_NAMES),
            )
        )
    return rows


def _storage(index: Index, value: Value) -> str:
    home = index.first_version(value.id)
    sharing = {
        event_text.value_name(index, other.id)
        for other in index.values.values()
        if other.storage == value.storage
        and index.first_version(other.id) != home
        # Freed memory is reused: only views with the same storage share the same numbers.
        and (other.base is not None or value.base is not None)
    }
    return tr("shared with {joined}", joined=_joined(sorted(sharing))) if sharing else tr("its own")


def _joined(names: list[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (tr(" and {more} more", more=more) if more > 0 else "")


def _version(page: InspectorPage, value: Value) -> str:
    versions = page.versions.until(value.id, page.position) if page.versions else []
    later = [v for v in versions if v > value.id]
    if later:
        return tr("{version}, overwritten since", version=value.version)
    return str(value.version)


def _op_facts(index: Index, op: Op) -> list[tuple[str, str]]:
    rows = [("op", op.op)]
    for place, arg in enumerate(op.args[:MAX_ARGUMENTS]):
        name = arg.keyword or tr("input {place}", place=place)
        if arg.value is not None and arg.value in index.values:
            shape = index.values[arg.value].shape
            note = f" · {texts.shape(shape)}" if shape else ""
            rows.append((name, event_text.value_name(index, arg.value) + note))
        elif arg.text and arg.text != "None":
            rows.append((name, arg.text if len(arg.text) < 60 else arg.text[:59] + "…"))
    if len(op.args) > MAX_ARGUMENTS:
        rows.append(
            (
                tr("and more"),
                ngettext("{count:,} input", "{count:,} inputs", len(op.args) - MAX_ARGUMENTS),
            )
        )
    if op.scope:
        rows.append((tr("module"), op.scope))
    if op.inplace:
        rows.append((tr("in place"), tr("yes: it overwrote its input")))
    if not op.grad_mode:
        rows.append((tr("gradients"), tr("off (no_grad)")))
    return rows


def _module_facts(page: InspectorPage) -> list[tuple[str, str]]:
    call, tape = page.call, page.tape
    if call is None or tape is None or page.selection is None:
        return []
    assert page.selection.call is not None
    inside = {page.selection.call}
    for number, other in enumerate(tape.calls):
        if other.parent in inside:
            inside.add(number)
    ops = sum(op.call in inside for op in tape.ops)
    rows = [("kind", call.kind), ("parameters", f"{call.parameters:,}")]
    if call.about:
        rows.append((tr("set up as"), call.about))
    rows.append((tr("ops inside"), f"{ops:,}"))
    rows.append((tr("mode"), tr("training") if call.training else tr("evaluation")))
    if call.parent is not None:
        rows.append(("inside", tape.calls[call.parent].name))
    rows.append((tr("hooks"), ", ".join(call.hooks) or "none"))
    entries = module_api.entries_at(tape, page.selection.call)
    return rows + (module_api.rows(entries) if entries else _parameters(tape, call.name))


def _parameters(tape: Tape, module: str) -> list[tuple[str, str]]:
    """Return name and shape of every parameter inside the module."""
    shapes = {
        value.name: texts.shape(value.shape)
        for value in tape.values
        if value.role == "parameter" and value.name.startswith(f"{module}.")
    }
    shown = list(shapes.items())[:MAX_PARAMETERS]
    more = len(shapes) - len(shown)
    return shown + ([(tr("and more"), f"{more:,}")] if more else [])


ENTRY = FactsPane
