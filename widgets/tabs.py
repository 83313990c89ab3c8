"""Tabs that fit a narrow column."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QMenu, QTabWidget, QToolButton

TAB_LEFT, TAB_EDGE = 8, 8
"""Pixels before the first tab, and of one tab's frame and margins."""
TAB_LOOSE, TAB_TIGHT = 12, 3
"""Pixels beside a title where there is room, and where there is none."""


class Tabs(QTabWidget):
    """A tab widget whose titles move together before they are cut short.

    Where not even that is enough, as with big letters, one tab is seen, and a menu has the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setDocumentMode(True)
        # Qt's own scroll buttons would hide one of the titles. Of one that is too long even alone
        # the middle goes first: a count stands at the end.
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._padding = 0
        self.setStyleSheet(f"QTabWidget::tab-bar {{ left: {TAB_LEFT}px; }}")
        self._short: dict[str, str] = {}
        self._crowded = False
        self.others = self._make_others()
        self.currentChanged.connect(self._show_current)
        self._space()

    def _make_others(self) -> QToolButton:
        """Return the button that has all titles in a menu."""
        button = QToolButton()
        button.setProperty("quiet", True)
        button.setText("More")
        button.setArrowType(Qt.ArrowType.DownArrow)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName("All pages")
        button.setToolTip("All pages")
        self.pages = QMenu(button)
        # Not as the button's own menu: that would wait for an answer in an event loop of its own.
        button.clicked.connect(self._open_menu)
        self.setCornerWidget(button, Qt.Corner.TopRightCorner)
        button.hide()
        return button

    def _open_menu(self) -> None:
        menu = self.pages
        menu.clear()
        for index in range(self.count()):
            choice = menu.addAction(self.full_text(index))
            choice.setCheckable(True)
            choice.setChecked(index == self.currentIndex())
            choice.triggered.connect(lambda _=False, to=index: self.setCurrentIndex(to))
        menu.popup(self.others.mapToGlobal(self.others.rect().bottomLeft()))

    def _show_current(self) -> None:
        """Show all tabs, or only the one at hand where they would be cut to nothing."""
        current = self.currentIndex()
        # The one at hand first: were it hidden for a moment, another would take its place.
        for index in sorted(range(self.count()), key=lambda index: index != current):
            self.setTabVisible(index, index == current or not self._crowded)
        self.others.setVisible(self._crowded)

    def shorten(self, titles: Mapping[str, str]) -> None:
        """Use shorter titles where the full ones do not fit; these stand in the tool tips then."""
        self._short = dict(titles)
        self._space()

    def full_text(self, index: int) -> str:
        """Return a tab's title, be a shorter one shown or not."""
        shown = self.tabText(index)
        return next((full for full, short in self._short.items() if short == shown), shown)

    def _choose_titles(self, metrics: QFontMetricsF) -> None:
        titles = [self.full_text(i) for i in range(self.count())]
        each = TAB_EDGE + 2 * TAB_TIGHT
        wide = TAB_LEFT + sum(metrics.horizontalAdvance(title) + each for title in titles)
        for index, title in enumerate(titles):
            short = self._short.get(title, title) if wide > self.width() else title
            if short != self.tabText(index):
                super().setTabText(index, short)
                self.setTabToolTip(index, "" if short == title else title)

    def setTabText(self, index: int, text: str) -> None:
        """Rename a tab."""
        if text != self.tabText(index):
            super().setTabText(index, text)
            self._space()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the titles closer or apart."""
        super().resizeEvent(event)
        self._space()

    def _space(self) -> None:
        bar = self.tabBar()
        font = QFont(bar.font())
        font.setWeight(QFont.Weight.Medium)
        metrics = QFontMetricsF(font)
        if self._short:
            self._choose_titles(metrics)
        titles = [bar.tabText(i) for i in range(bar.count())]
        taken = sum(metrics.horizontalAdvance(title) + TAB_EDGE for title in titles)
        free = (self.width() - TAB_LEFT - taken) / (2 * max(len(titles), 1))
        if self._crowded != (crowded := len(titles) > 1 and free < TAB_TIGHT):
            self._crowded = crowded
            self._show_current()
        if crowded:
            free = TAB_LOOSE
        padding = max(TAB_TIGHT, min(TAB_LOOSE, int(free)))
        if padding != self._padding:
            self._padding = padding
            # On the bar alone: on the whole, all pages would be styled anew at each pixel of width.
            bar.setStyleSheet(
                f"QTabBar {{ margin-top: 6px; }} QTabBar::tab {{ padding: 5px {padding}px; }}"
            )
