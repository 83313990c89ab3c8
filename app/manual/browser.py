"""A view of a manual page: Markdown in the theme's colours, its pictures as wide as the view."""

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QTextBrowser, QWidget

from gradscribe.app.manual import pages
from gradscribe.app.manual.pages import Page
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, mono_font, ui_font

MARGIN = 28
WIDEST = 860
"""Width of the text past which lines are too long to read."""
CELL_PADDING = 6
TEXT_PX, CODE_PX = 13.5, 12.5
HEADINGS_PX = {1: 23.0, 2: 17.0, 3: 14.5}
"""Sizes of headings by level."""
RESIZE_MS = 120
"""Rest after a change of size before pictures are scaled anew."""


class PageBrowser(QTextBrowser):
    """Shows one page; links to other pages are emitted, not followed."""

    page_asked = Signal(str, str)
    """(page, anchor) of a link."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._page: Page | None = None
        self._shown_width = 0
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setAccessibleName(tr("Manual page"))
        self.anchorClicked.connect(self._follow)
        self._rest = QTimer(self, singleShot=True, interval=RESIZE_MS)
        self._rest.timeout.connect(self._fit)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        self._render()

    def show_page(self, page: Page, anchor: str = "") -> None:
        """Show a page from its top, or from the heading of that anchor."""
        if page is not self._page:
            self._page = page
            self._render()
        self.scroll_to(anchor)

    @property
    def page(self) -> Page | None:
        """The page that is shown."""
        return self._page

    def scroll_to(self, anchor: str) -> None:
        """Scroll to the heading of an anchor; to the top if there is none."""
        block = self.document().begin()
        while anchor and block.isValid():
            level = block.blockFormat().headingLevel()
            if level and pages.anchor_of(block.text()) == anchor:
                layout = self.document().documentLayout()
                top = layout.blockBoundingRect(block).top()
                self.verticalScrollBar().setValue(max(0, int(top) - 8))
                return
            block = block.next()
        self.verticalScrollBar().setValue(0)

    def loadResource(self, kind: int, name: QUrl | str) -> QImage | None:
        """Return a picture of the manual, as wide as the text; nothing else is loaded."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return None
        image = self._image(name.toString() if isinstance(name, QUrl) else name)
        if image is None:
            return None
        ratio = self.devicePixelRatioF()
        width = min(image.width(), int(self._text_width() * ratio))
        scaled = image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        scaled.setDevicePixelRatio(ratio)
        return scaled

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep lines at a width that can be read."""
        super().resizeEvent(event)
        self._rest.start()

    def _fit(self) -> None:
        if self._text_width() != self._shown_width:
            bar = self.verticalScrollBar()
            share = bar.value() / max(1, bar.maximum())
            self._render()
            bar.setValue(round(share * bar.maximum()))

    def _text_width(self) -> int:
        return max(120, min(WIDEST, self.viewport().width() - 2 * MARGIN))

    def _image(self, name: str) -> QImage | None:
        parts = name.split("/")
        if len(parts) != 2 or parts[0] != "pictures" or ".." in name:
            return None
        plain = parts[1]
        dark = plain.replace(".png", "-dark.png")
        for file in (dark, plain) if self._theme.dark else (plain,):
            found = pages.folder() / "pictures" / file
            if found.is_file():
                image = QImage.fromData(found.read_bytes())
                return None if image.isNull() else image
        return None

    def _render(self) -> None:
        if self._page is None:
            return
        document = QTextDocument(self)
        document.setDefaultFont(ui_font(TEXT_PX * self._theme.scale))
        document.setDocumentMargin(MARGIN)
        self._shown_width = self._text_width()
        document.setMarkdown(self._page.text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        # One layout for all changes of format, and none before them.
        edit = QTextCursor(document)
        edit.beginEditBlock()
        self._paint(document)
        edit.endEditBlock()
        self.setDocument(document)

    def _paint(self, document: QTextDocument) -> None:
        side = max(0.0, self.viewport().width() - self._shown_width - 2 * MARGIN)
        root = document.rootFrame().frameFormat()
        root.setRightMargin(side)
        document.rootFrame().setFrameFormat(root)
        block = document.begin()
        while block.isValid():
            self._paint_block(block)
            block = block.next()
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                self._paint_table(frame)

    def _paint_block(self, block: QTextBlock) -> None:
        cursor, shape = QTextCursor(block), QTextBlockFormat()
        level = block.blockFormat().headingLevel()
        if level:
            shape.setTopMargin(20 if level > 1 else 4)
            shape.setBottomMargin(8)
        elif block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence.value):
            shape.setBackground(self._theme.panel2)
            shape.setLeftMargin(8)
        elif not _has_picture(block):
            shape.setLineHeight(125, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if block.textList() is None and QTextCursor(block).currentTable() is None:
                shape.setBottomMargin(8)
        cursor.mergeBlockFormat(shape)
        self._paint_words(block, level)

    def _paint_words(self, block: QTextBlock, level: int) -> None:
        scale = self._theme.scale
        pieces = block.begin()
        found = []
        while not pieces.atEnd():
            piece = pieces.fragment()
            found.append((piece.position(), piece.length(), piece.charFormat()))
            pieces += 1
        for at, length, was in found:
            look = QTextCharFormat()
            look.setForeground(self._theme.selection if was.isAnchor() else self._theme.ink)
            if level:
                look.setFont(ui_font(HEADINGS_PX.get(level, TEXT_PX) * scale, 600))
            elif was.fontFixedPitch() or "monospace" in (was.fontFamilies() or []):
                look.setFont(mono_font(CODE_PX * scale))
            cursor = QTextCursor(block)
            cursor.setPosition(at)
            cursor.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(look)

    def _paint_table(self, table: QTextTable) -> None:
        shape = table.format()
        shape.setBorderBrush(QColor(self._theme.line))
        shape.setBorderCollapse(True)
        shape.setBorder(1)
        shape.setCellPadding(CELL_PADDING)
        shape.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        table.setFormat(shape)

    def sizeHint(self) -> QSize:
        """Return a size at which lines have their best length."""
        return QSize(WIDEST + 2 * MARGIN, 700)

    def _follow(self, link: QUrl) -> None:
        path, anchor = link.path(), link.fragment()
        if not path:
            self.scroll_to(anchor)
        elif path.endswith(".md") and not link.scheme():
            self.page_asked.emit(path.removesuffix(".md"), anchor)


def _has_picture(block: QTextBlock) -> bool:
    """Return whether a block has a picture, which lines of another height would move apart."""
    pieces = block.begin()
    while not pieces.atEnd():
        if pieces.fragment().charFormat().isImageFormat():
            return True
        pieces += 1
    return False
