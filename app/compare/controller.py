"""Two runs side by side: linked graphs, a linked position, and a list of differences."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject, QPointF, QSizeF, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSlider,
    QWidget,
)

from gradscribe.app.compare.cause_tree import CauseTree
from gradscribe.app.compare.progress_card import INLINE_EVENTS, CompareProgressCard
from gradscribe.app.compare.side import CompareSide
from gradscribe.app.ui.canvas.color_legend import ColorScaleBar
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.differences import Difference
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices
from gradscribe.widgets.editor.diff_lines import DiffLines
from gradscribe.widgets.graph.camera import Camera, fitting

SIZE = (1600, 1000)
LIST_HEIGHT = 132
READABLE = 0.7


class CompareCard(PopupCard):
    """A card that compares two tapes; the first difference is selected at first."""

    def __init__(
        self,
        over: QWidget,
        theming: Theming,
        left: Tape,
        right: Tape,
        titles: tuple[str, str],
        lines: tuple[Sequence[str], Sequence[str]] = ((), ()),
        compared: Comparison | None = None,
    ) -> None:
        super().__init__(over, *SIZE)
        self.compared = compared or Comparison(left, right)
        theme = theming.theme()
        self.left = CompareSide(left, self.compared, True, theme, self)
        self.right = CompareSide(right, self.compared, False, theme, self)
        self._shift = QPointF()
        """Offset from a card on the left to its counterpart on the right, in scene units."""
        self._linking = False
        self._appearing = TimeSlices(0, self)
        self._appearing.rest_ms = 2
        self.card.setAccessibleName(tr("Two runs side by side"))
        self._strips = [DiffLines(rows, sign, self) for rows, sign in zip(lines, "−+", strict=True)]
        for strip in self._strips:
            strip.set_theme(theme)
            strip.setVisible(any(lines))
        self.colors = ColorScaleBar(in_row=True)
        self.colors.setAccessibleName(tr("What the colours mean"))
        self.colors.setAccessibleDescription(", ".join(self.right.marks.key().groups))
        self.colors.set_key(self.right.marks.key(), theme)
        self._place(titles)
        for side in (self.left, self.right):
            side.view.camera_changed.connect(lambda side=side: self._follow(side))
            side.view.picked.connect(lambda key, side=side: self._pick(side, key))
            side.pictured.connect(self._frame)
        self.slider.valueChanged.connect(self._move)
        self.tree.chosen.connect(self._choose)
        theming.changed.connect(self._repaint)
        self._move(len(left.events))

    def open(self) -> None:
        """Open the card with the first difference selected."""
        super().open()
        self._fit()
        self._appearing.run(self._appear())
        self.tree.select_first()
        self.tree.setFocus()

    def _appear(self) -> Iterator[bool | None]:
        """Show the card first, then each of the two graphs once it can be painted."""
        sides = (self.left, self.right)
        for side in sides:
            side.view.setUpdatesEnabled(False)
        # After two turns of the event loop the layout is settled and the card is painted.
        yield END_TURN
        yield END_TURN
        for side in sides:
            while side.scene_builder.busy:
                yield END_TURN
            side.view.show_when_painted()
            yield END_TURN

    def leave(self) -> None:
        """Close the card and cancel its worker threads."""
        self.left.scene_builder.close_later()
        self.right.scene_builder.close_later()
        super().leave()

    # Layout

    def _place(self, titles: tuple[str, str]) -> None:
        heading = plain_label(tr("What differs"), "heading")
        self.caption = plain_label(self.compared.summary(), "caption")
        self.caption.setWordWrap(True)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.leave)
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addSpacing(8)
        row.addWidget(self.caption, 1)
        row.addWidget(close)
        self.column.addLayout(row)
        sides = hbox(None, spacing=10)
        pairs = zip((self.left, self.right), titles, self._strips, strict=True)
        for side, title, strip in pairs:
            column = vbox(None, spacing=4)
            label = plain_label(title, "title")
            side.view.setAccessibleName(tr("Graph of {title}", title=title))
            column.addWidget(label)
            if any(strip.rows for strip in self._strips):
                column.addWidget(strip)
            column.addWidget(side.view, 1)
            sides.addLayout(column, 1)
        self.column.addLayout(sides, 1)
        self.column.addLayout(self._position_row())
        self.tree = CauseTree(self.compared.causes)
        self.tree.setFixedHeight(LIST_HEIGHT)
        self.tree.setVisible(bool(self.compared.causes))
        self.column.addWidget(self.tree)

    def _position_row(self) -> QHBoxLayout:
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, len(self.left.tape.events))
        self.slider.setValue(self.slider.maximum())
        self.slider.setAccessibleName(tr("Position"))
        self.where = plain_label(role="caption")
        row = hbox(None, spacing=10)
        row.addWidget(self.colors)
        row.addWidget(self.slider, 1)
        row.addWidget(self.where)
        return row

    # Linking

    def _move(self, position: int) -> None:
        """Show a position of the left tape, and the corresponding one of the right."""
        across = self.compared.matching_position(position)
        self.left.move(position)
        self.right.move(across)
        total, other = len(self.left.tape.events), len(self.right.tape.events)
        self.where.setText(
            tr(
                "Event {position} of {total} · {across} of {other}",
                position=position,
                total=total,
                across=across,
                other=other,
            )
        )

    def _choose(self, difference: Difference) -> None:
        """Select the cards of a difference and align them with each other."""
        self._go_to(difference)
        self.left.select(difference)
        self.right.select(difference)
        self._bring(difference)

    def _go_to(self, difference: Difference) -> None:
        """Move to the end of the scene with the difference, unless it is in the picture."""
        if difference.kind in ("left fails", "right fails"):
            self.slider.setValue(self.slider.maximum())
            return
        side = self.left if difference.left is not None else self.right
        value = side.value_of(difference)
        at = side.scene_end_of(value) if value is not None else 0
        if side.key_of(difference) or not at:
            return
        self.slider.setValue(
            at if side.is_left else self.compared.matching_position(at, from_left=False)
        )

    def _frame(self) -> None:
        """Fit a picture that has just been built, then bring the selection into view."""
        self._fit()
        difference = self.tree.difference()
        if difference is not None:
            self._bring(difference)

    def _bring(self, difference: Difference) -> None:
        """Align the cards of a difference with each other and bring them into view."""
        sides = (self.left, self.right)
        a, b = (side.view.stage().boxes.get(side.key_of(difference)) for side in sides)
        if a is not None and b is not None:
            self._shift = b.center() - a.center()
        else:
            self._shift = self._position_next_to(difference)
        side, box = (self.left, a) if a is not None else (self.right, b)
        if box is None:
            return
        view = side.view
        if view.rect().toRectF().contains(view.camera().box_to_view(box)):
            self._follow(side)
        else:
            zoom = max(view.camera().zoom, READABLE)
            middle = QPointF(view.width() / 2, view.height() / 2) - box.center() * zoom
            view.set_camera(Camera(zoom, middle.x(), middle.y()))

    def _position_next_to(self, difference: Difference) -> QPointF:
        """Return the offset at the last op before a difference that both pictures contain."""
        for values in self.compared.before(difference):
            boxes = [
                side.view.stage().boxes.get(side.card_of(value))
                for side, value in zip((self.left, self.right), values, strict=True)
            ]
            if boxes[0] is not None and boxes[1] is not None:
                return boxes[1].center() - boxes[0].center()
        return self._shift

    def _pick(self, side: CompareSide, key: str) -> None:
        """Select the row of a card that was clicked."""
        for difference in self.compared.differences:
            if key and side.key_of(difference) == key:
                self.tree.select(difference)
                return

    def _fit(self) -> None:
        """Fit the bigger picture, and apply the same camera to the other."""
        view = self.left.view
        size = QSizeF(view.size())
        sides = [side.view.stage().bounds for side in (self.left, self.right)]
        self._shift = QPointF(sides[1].center().x() - sides[0].center().x(), 0.0)
        bigger = max(sides, key=lambda box: box.width() * box.height())
        camera = fitting(bigger, size)
        if camera.zoom < READABLE:
            top = size.height() * 0.06 - sides[0].top() * READABLE
            camera = Camera(READABLE, size.width() / 2 - sides[0].center().x() * READABLE, top)
        elif bigger is sides[1]:
            camera = camera.moved(self._shift.x() * camera.zoom, self._shift.y() * camera.zoom)
        view.set_camera(camera)
        self._follow(self.left)

    def _follow(self, side: CompareSide) -> None:
        """Move the other side's camera to the same place."""
        if self._linking:
            return
        self._linking = True
        camera, sign = side.view.camera(), -1 if side is self.left else 1
        other = self.right if side is self.left else self.left
        away = self._shift * camera.zoom * sign
        other.view.set_camera(camera.moved(away.x(), away.y()))
        self._linking = False

    def _repaint(self, theme: Theme) -> None:
        for side in (self.left, self.right):
            side.view.set_theme(theme)
        for strip in self._strips:
            strip.set_theme(theme)
        self.colors.set_key(self.right.marks.key(), theme)


class CompareController(QObject):
    """Store the tape to compare with, and open the comparison."""

    def __init__(self, over: QWidget, theming: Theming, parent: QObject) -> None:
        super().__init__(parent)
        self._over, self._theming = over, theming
        self._stored: tuple[Tape, str] | None = None

    @property
    def stored_title(self) -> str:
        """Title of the stored run; empty if there is none."""
        return self._stored[1] if self._stored is not None else ""

    def store(self, tape: Tape, title: str) -> None:
        """Store a tape in place of the previous one."""
        self._stored = (tape, title)

    def compare_with_stored(self, tape: Tape, title: str) -> CompareCard | None:
        """Compare the stored tape with this one; None if none is stored."""
        return None if self._stored is None else self.show(self._stored, (tape, title))

    def show(
        self,
        left: tuple[Tape, str],
        right: tuple[Tape, str],
        lines: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> CompareCard | None:
        """Compare two tapes, each with its title and the lines that only its program has.

        Long ones are compared in a worker thread first; then None is returned.
        """
        tapes, titles = (left[0], right[0]), (left[1], right[1])

        def opened(compared: Comparison | None) -> CompareCard:
            card = CompareCard(self._over, self._theming, *tapes, titles, lines, compared)
            card.open()
            return card

        if sum(len(tape.events) for tape in tapes) <= INLINE_EVENTS:
            return opened(None)
        wait = CompareProgressCard(self._over, *tapes)
        wait.compared.connect(opened)
        wait.open()
        return None
