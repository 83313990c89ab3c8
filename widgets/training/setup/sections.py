"""Collapsible sections of the set-up form: rows of options, or a part with its options."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cached_property

import shiboken6
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from gradscribe.engine.protocol.setup import JsonValue, Part
from gradscribe.engine.protocol.training import Advice, CatalogueEntry, Option
from gradscribe.playback.translation import translated
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.training.setup.advice_lines import AdviceLines
from gradscribe.widgets.training.setup.layers_editor import LayersEditor
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.option_titles import option_title
from gradscribe.widgets.training.wheel_filter import ignore_wheel

NO_PART = ""
"""Name of the choice without a part: the engine's default, or none."""


class FoldingSection(QWidget):
    """A collapsible heading, and rows below it that are built when it is first opened."""

    followed = Signal(object)
    """Carries the `Advice` whose button was pressed."""

    def __init__(self, title: str, is_open: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = QToolButton()
        self.head.setText(title)
        self.head.setProperty("quiet", True)
        self.head.setCheckable(True)
        self.head.setChecked(is_open)
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setIconSize(QSize(10, 10))
        self.head.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_sheet(self.head, "QToolButton { text-align: left; padding: 4px 6px; }")
        self.head.setAccessibleName(title)
        self.head.toggled.connect(self._fold)
        self.body = QWidget()
        self.rows = vbox(self.body, margins=(16, 0, 12, 6), spacing=7)
        self.note = Label("error")
        self.note.hide()
        outer = vbox(self, spacing=2)
        outer.addWidget(self.head)
        self._below_head = vbox(None, margins=(16, 0, 12, 0))
        self._below_head.addWidget(self.note)
        outer.addLayout(self._below_head)
        outer.addWidget(self.body)
        self._fold(is_open)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))

    @property
    def is_open(self) -> bool:
        """True while the section is open."""
        return self.head.isChecked()

    def fill(self) -> None:
        """Build the rows that do not exist yet: the section is being opened."""

    def _fold(self, is_open: bool) -> None:
        if is_open:
            self.fill()
        self.body.setVisible(is_open)
        self.head.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)

    def show_error(self, why: str) -> None:
        """Show an error, which opens the section; an empty text removes it."""
        self.note.say(why)
        self.note.setVisible(bool(why))
        if why and not self.head.isChecked():
            self.head.setChecked(True)

    @cached_property
    def advice(self) -> AdviceLines:
        """The advice below the heading, shown while the section is closed, too."""
        lines = AdviceLines(self)
        lines.followed.connect(self.followed)
        self._below_head.addWidget(lines)
        return lines

    def show_advice(self, advice: Sequence[Advice]) -> None:
        """Show pieces of advice below the heading instead of any before."""
        if advice or "advice" in self.__dict__:
            self.advice.show_advice(advice)

    def advice_lines(self) -> Sequence[QWidget]:
        """Return the lines of advice that it shows."""
        return self.advice.lines if "advice" in self.__dict__ else ()


class OptionSection(FoldingSection):
    """A section of independent options."""

    edited = Signal(str, object)

    def __init__(self, title: str, options: Sequence[Option], is_open: bool = False) -> None:
        self.by_name: dict[str, OptionRow] = {}
        """The rows that exist by now."""
        self._options: list[Option] = []
        self._values: dict[str, object] = {}
        self._offers: dict[str, tuple[tuple[str, ...], str]] = {}
        super().__init__(title, is_open)
        self.add(options)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its options."""
        return tuple(option.name for option in self._options)

    def add(self, options: Sequence[Option]) -> None:
        """Append options."""
        self._options.extend(options)
        if self.is_open:
            self.fill()

    def set_values(self, values: Mapping[str, object]) -> None:
        """Show values by option name; emits nothing."""
        self._values = dict(values)
        for name, row in self.by_name.items():
            row.set_value(values[name])

    def fill(self) -> None:
        """Build the rows that do not exist yet."""
        for option in self._options:
            if option.name not in self.by_name:
                row = self.by_name[option.name] = OptionRow(option, self.body)
                if option.name in self._offers:
                    row.offer(*self._offers[option.name])
                if option.name in self._values:
                    row.set_value(self._values[option.name])
                row.edited.connect(self.edited)
                self.rows.addWidget(row)

    def offer(self, name: str, choices: tuple[str, ...], words: str) -> None:
        """Offer ``choices`` for the option ``name``, none of them chosen, with a remark."""
        if self._offers.get(name) != (choices, words):
            self._offers[name] = choices, words
            if name in self.by_name:
                self.by_name[name].offer(choices, words)


class OptionFold(QToolButton):
    """A heading that shows and hides rows of options that are seldom changed."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows: list[OptionRow] = []
        self.setText(title)
        self.setAccessibleName(title)
        self.setProperty("quiet", True)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(8, 8))
        self.setArrowType(Qt.ArrowType.RightArrow)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.toggled.connect(self._fold)

    def take(self, row: OptionRow) -> None:
        """Add a row."""
        self._rows.append(row)
        row.hide()

    def _fold(self, is_open: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        for row in self._rows:
            row.setVisible(is_open)


class PartSection(FoldingSection):
    """The choice of an entry of the catalogue, and its options."""

    chosen = Signal(object)
    """Carries the chosen `Part`, or None."""

    def __init__(
        self, title: str, absent: str = "", is_open: bool = True, ours: bool = False
    ) -> None:
        """``ours``: option names are to be shown as words, as they are not arguments of torch."""
        super().__init__(title, is_open=False)
        self._absent, self._ours = absent, ours
        self._entries: dict[str, CatalogueEntry] = {}
        self._part: Part | None = None
        self._shown = "?"
        self.by_name: dict[str, OptionRow] = {}
        self.choice = Choice()
        self.choice.setAccessibleName(title)
        self.choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.choice.setMaxVisibleItems(24)
        self.choice.activated.connect(self._choose)
        ignore_wheel(self.choice)
        self.help = Label("caption")
        self.options = QWidget()
        self.rows.addWidget(self.choice)
        self.rows.addWidget(self.help)
        self.rows.addWidget(self.options)
        self.head.setChecked(is_open)

    def set_entries(self, entries: Sequence[CatalogueEntry]) -> None:
        """Offer entries, by group."""
        self._entries = {entry.name: entry for entry in entries}
        self.choice.clear()
        if self._absent:
            self.choice.addItem(self._absent, NO_PART)
        group = ""
        for entry in entries:
            if entry.group and entry.group != group:
                group = entry.group
                self._add_group(translated(group))
            self.choice.addItem(translated(entry.title) or entry.name, entry.name)
            self.choice.setItemData(
                self.choice.count() - 1, translated(entry.help), Qt.ItemDataRole.ToolTipRole
            )
        self._shown = "?"

    def _add_group(self, title: str) -> None:
        model = self.choice.model()
        assert isinstance(model, QStandardItemModel)
        head = QStandardItem(title)
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        font = head.font()
        font.setBold(True)
        head.setFont(font)
        model.appendRow(head)

    def follow(self, part: Part | None) -> Iterator[None]:
        """Show a part and its options in steps of a few rows, reused if the entry is the same."""
        self._part = part
        if self.is_open:
            yield from self._fill()

    def fill(self) -> None:
        """Show the part: the section is being opened."""
        for _ in self._fill():
            pass

    def _fill(self) -> Iterator[None]:
        part = self._part
        name = part.name if part is not None else NO_PART
        is_new = name != self._shown
        # Before the catalogue arrives the title is not known.
        self.choice.setPlaceholderText(name if self._entries else "…")
        self.choice.setCurrentIndex(self.choice.findData(name))
        if not is_new:
            self._set_values(self.by_name, part)
            return
        # Built with their final parent: reparenting would style and measure them again.
        host, entry = QWidget(self.body), self._entries.get(name)
        try:
            rows = yield from self._make_rows(host, entry, part)
            # If another entry was chosen or offered meanwhile, that call builds its rows.
            if self._part is part and self._entries.get(name) is entry:
                self._shown = name
                self._put(host, rows, entry)
                yield
        finally:
            if self.options is not host and shiboken6.isValid(host):
                host.deleteLater()

    def _set_values(self, rows: Mapping[str, OptionRow], part: Part | None) -> None:
        for _ in self._setting(rows, part):
            pass

    def _setting(self, rows: Mapping[str, OptionRow], part: Part | None) -> Iterator[None]:
        """Show the value of each option, one per step."""
        given = part.options if part is not None else {}
        for key, row in rows.items():
            row.set_value(given.get(key, row.option.default))
            yield
        for each, layers in _each(rows):
            value = given.get(each.name, each.default)
            names = [str(name) for name in value] if isinstance(value, list) else str(value)
            layers.set_names(names)

    def _make_rows(
        self, host: QWidget, entry: CatalogueEntry | None, part: Part | None
    ) -> Generator[None, None, dict[str, OptionRow]]:
        """Build the rows of an entry in ``host``, and return them."""
        made, rows = dict[str, OptionRow](), vbox(host, spacing=7)
        rows.setAlignment(Qt.AlignmentFlag.AlignTop)
        folds = dict[str, OptionFold]()
        for option in entry.options if entry is not None else ():
            title = option_title(option) if self._ours else None
            row = made[option.name] = OptionRow(option, host, title)
            row.edited.connect(self._edit)
            if option.fold and option.fold not in folds:
                folds[option.fold] = OptionFold(option.fold, host)
                rows.addWidget(folds[option.fold])
            rows.addWidget(row)
            if option.fold:
                folds[option.fold].take(row)
            yield
        for each, layers in _each(made):
            layers.offer(option_title(each), each.choices)
            layers.named.connect(lambda names, key=each.name: self._edit(key, names))
        for _ in self._setting(made, part):
            yield
        for row in made.values():
            # Qt would polish all of them at once when they become visible.
            for widget in (row, *row.findChildren(QWidget)):
                widget.ensurePolished()
            yield
        return made

    def _put(self, host: QWidget, rows: dict[str, OptionRow], entry: CatalogueEntry | None) -> None:
        """Replace the current rows by these."""
        old, self.options, self.by_name = self.options, host, rows
        self.rows.replaceWidget(old, host)
        old.hide()
        old.deleteLater()
        host.setVisible(bool(rows))
        self.help.say(translated(entry.help) if entry is not None else "")
        self.help.setVisible(bool(entry is not None and entry.help))

    def _choose(self, index: int) -> None:
        name = self.choice.itemData(index)
        wanted = self._part.name if self._part is not None else NO_PART
        if name is None:
            self.choice.setCurrentIndex(self.choice.findData(wanted))
        elif name != wanted:
            self.chosen.emit(Part(name) if name != NO_PART else None)

    def _edit(self, key: str, value: JsonValue) -> None:
        if self._part is None or self._part.name != self._shown:
            return
        options = {**self._part.options, key: value}
        for each, layers in _each(self.by_name):
            if isinstance(options.get(each.name), list):
                options[each.name] = collapse_equal(layers.names()) or each.default
        usual = {name: row.option.default for name, row in self.by_name.items()}
        options = {k: v for k, v in options.items() if k not in usual or v != usual[k]}
        self.chosen.emit(Part(self._part.name, options))


def _each(rows: Mapping[str, OptionRow]) -> Iterator[tuple[Option, LayersEditor]]:
    """Yield the options that can be set per layer, with the editor of the layers."""
    for row in rows.values():
        of = rows.get(row.option.each)
        if of is not None and isinstance(of.editor, LayersEditor):
            yield row.option, of.editor


def collapse_equal(names: Sequence[str]) -> JsonValue:
    """Return a single name if all are equal, else the list; None if it is empty."""
    return [*names] if len(set(names)) > 1 else next(iter(names), None)
