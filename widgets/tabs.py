"""Tabs that fit a narrow column."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QTabWidget

TAB_LEFT, TAB_EDGE = 8, 8
"""Pixels before the first tab, and of one tab's frame and margins."""
TAB_LOOSE, TAB_TIGHT = 12, 3
"""Pixels beside a title where there is room, and where there is none."""


class Tabs(QTabWidget):
    """A tab widget whose titles move together before they are cut short."""

    def __init__(self) -> None:
        super().__init__()
        self.setDocumentMode(True)
        # Where all titles don't fit they get shorter: Qt's own scroll buttons would hide one. The
        # middle goes first: a count stands at the end.
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._padding = 0
        self.setStyleSheet(f"QTabWidget::tab-bar {{ left: {TAB_LEFT}px; }}")
        self._short: dict[str, str] = {}
        self._space()

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
        padding = max(TAB_TIGHT, min(TAB_LOOSE, int(free)))
        if padding != self._padding:
            self._padding = padding
            # On the bar alone: on the whole, all pages would be styled anew at each pixel of width.
            bar.setStyleSheet(
                f"QTabBar {{ margin-top: 6px; }} QTabBar::tab {{ padding: 5px {padding}px; }}"
            )
