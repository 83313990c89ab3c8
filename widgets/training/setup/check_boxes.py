"""A section of check boxes, each with an explanation that is shown while it is on."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QScrollArea

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.training.setup.sections import FoldingSection

MARGIN = 12
"""Pixels below an explanation that is scrolled into view."""


class CheckBoxSection(FoldingSection):
    """A check box for each item offered, in order."""

    switched = Signal(object)
    """Carries the names of all items that are on."""

    def __init__(self, title: str, titles: Mapping[str, str]) -> None:
        super().__init__(title, is_open=False)
        self.boxes: dict[str, QCheckBox] = {}
        """The check boxes that exist by now."""
        self._titles = titles
        self._about: dict[str, str] = {}
        self._on: tuple[str, ...] = ()
        self._opened: Label | None = None
        self._scroll = single_shot(self, self._scroll_to)

    def offer(self, about: Mapping[str, str]) -> None:
        """Offer items: names and explanations."""
        self._about.update(about)
        if self.is_open:
            self.fill()

    def choose(self, names: Iterable[str]) -> None:
        """Show these items as on; emits nothing."""
        self._on = tuple(names)
        for name, box in self.boxes.items():
            box.setChecked(name in self._on)

    def fill(self) -> None:
        """Build the check boxes that do not exist yet."""
        for name, what in self._about.items():
            if name not in self.boxes:
                self.boxes[name] = self._switch(name, what)
        self.choose(self._on)

    def _switch(self, name: str, what: str) -> QCheckBox:
        box = QCheckBox(self._titles.get(name, name.replace("_", " ").capitalize()))
        box.setToolTip(what)
        box.setAccessibleDescription(what)
        box.clicked.connect(self._emit_choice)
        words = Label("caption", what)
        words.hide()
        box.toggled.connect(words.setVisible)
        box.clicked.connect(lambda is_on: self._reveal(words) if is_on else None)
        self.rows.addWidget(box)
        self.rows.addWidget(words)
        return box

    def _reveal(self, words: Label) -> None:
        """Scroll an explanation into view after the layout has placed it."""
        self._opened = words
        self._scroll.start()

    def _scroll_to(self) -> None:
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None and self._opened is not None and self._opened.isVisible():
            area.ensureWidgetVisible(self._opened, 0, MARGIN)

    def _emit_choice(self) -> None:
        self.switched.emit(tuple(name for name, box in self.boxes.items() if box.isChecked()))
