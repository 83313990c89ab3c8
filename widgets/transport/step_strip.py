"""The step strip: the loop's scalar over its steps, a step to type, and the pace of playing."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QKeyEvent, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from gradscribe.playback.tape.loops.step_curves import StepCurve, usual_curves
from gradscribe.playback.tape.loops.steps import StepMarks, Steps
from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.step_canvas import DASHES, StepCanvas

PACES = {"event": tr("by event"), "line": tr("by line"), "step": tr("by step")}
"""Pace of playing -> its words."""
LONGEST_NAME = 14
TALL_FROM = 1400
"""Pixels of width from which the curves are drawn higher: the window is large."""
NO_CURVE = tr("No curve")


class StepStrip(QWidget):
    """A row below the time line, shown for a program with a loop."""

    picked = Signal(int)
    """The user chose a step."""
    pace_picked = Signal(str)
    """The user chose to play by ``event``, ``line`` or ``step``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._steps = Steps((), 0)
        self._running = 0
        """Number of steps that a running program has made; 0 if all are recorded."""
        self._position = 0
        self._curves: tuple[StepCurve, ...] = ()
        self._chosen: dict[str, bool] = {}
        """Name -> shown, as the user chose; it outlives a run."""
        self._typed = False
        self.title = Label("caption", pgettext("of a run", "Step"), self).fit_text()
        self.entry = ReturnEdit(self)
        self.entry.setProperty("small", True)
        self.entry.setAccessibleName(pgettext("of a run", "Step"))
        self.entry.setToolTip(tr("Type a step and press Return (Ctrl+G)"))
        self.entry.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.entry.setMaxLength(12)
        self.total = Label("caption", "", self).fit_text()
        self.canvas = StepCanvas(self)
        self.names = QPushButton(NO_CURVE, self)
        self.names.setProperty("crumb", True)
        self.names.setToolTip(tr("Choose what is drawn over the steps"))
        self.names.setAccessibleName(tr("Curves on the step strip"))
        self.names.clicked.connect(self._open_names)
        self.pace = Choice(self)
        self.pace.setAccessibleName(tr("Play by"))
        self.pace.setToolTip(tr("Play event by event, line by line, or step by step"))
        for pace, words in PACES.items():
            self.pace.addItem(words, pace)
        self.pace_title = Label("caption", tr("Play"), self).fit_text()
        hbox(
            self, self.title, self.entry, self.total, 4, (self.canvas, 1), 4, self.names,
            self.pace_title, self.pace, margins=(12, 0, 12, 0), spacing=6,
        )  # fmt: skip
        for part in (self.names, self.pace):
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.entry.returnPressed.connect(self._take)
        self.entry.textEdited.connect(self._edit)
        self.entry.installEventFilter(self)
        self.canvas.picked.connect(self.picked)
        self.pace.activated.connect(lambda _at: self.pace_picked.emit(self.pace.currentData()))
        self.hide()

    # Content

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.canvas.set_theme(theme)
        self._fit_entry()
        self._show_names()

    def set_steps(self, steps: Steps, marks: StepMarks) -> None:
        """Show the steps of a tape, without a curve; hide the strip if there are none."""
        self._steps = steps
        self._running = 0
        self._curves = ()
        self._typed = False
        self.canvas.set_steps(steps, marks)
        self.setVisible(len(steps) > 0)
        self._fit_entry()
        self._show_total()
        self._show_names()
        self.set_position(self._position)

    def set_curves(self, curves: Sequence[StepCurve]) -> None:
        """Offer these curves of the shown steps, the likeliest losses first."""
        self._curves = tuple(curves)
        self._show_names()

    def set_growth(self, curves: Sequence[StepCurve]) -> None:
        """Show losses of a program that runs on, past the steps that have been recorded."""
        self._running = max(len(curve.numbers) for curve in curves)
        self._curves = tuple(curves)
        self.canvas.set_growth(self._running)
        self._show_names()
        self._show_total()

    def set_position(self, position: int) -> None:
        """Show the step of a position; emits nothing."""
        self._position = position
        number = self._steps.number_at(position)
        if not number:
            return
        start, stop = self._steps.span(number)
        self.canvas.set_place(number, (position - start) / max(1, stop - start))
        if not self._typed:
            self.entry.setText(str(number))

    def set_pace(self, pace: str) -> None:
        """Show the pace of playing; emits nothing."""
        self.pace.setCurrentIndex(self.pace.findData(pace))

    def shown_curves(self) -> tuple[StepCurve, ...]:
        """Return the curves that are drawn."""
        usual = usual_curves(self._curves)
        return tuple(c for c in self._curves if self._chosen.get(c.name, c in usual))[:6]

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Fit the height to the width; called by Qt."""
        super().resizeEvent(happened)
        self.fit_height(self.width())

    def fit_height(self, width: int) -> None:
        """Draw the curves higher in a large window, ``width`` pixels wide."""
        self.canvas.set_tall(width >= TALL_FROM * self._theme.scale)

    def edit_step(self) -> None:
        """Put the keyboard into the number of the step, to be typed over."""
        self.entry.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.entry.selectAll()

    def _fit_entry(self) -> None:
        metrics = QFontMetrics(self._theme.font(13))
        digits = max(3, len(str(len(self._steps))))
        self.entry.setFixedWidth(metrics.horizontalAdvance("0" * digits) + 22)

    # The step to type

    def _edit(self) -> None:
        self._typed = True
        self._show_total()

    def _take(self) -> None:
        """Go to the typed step; say what is wrong with it, and leave it there."""
        text = self.entry.text().strip().replace(",", "").replace("_", "")
        number = int(text) if text.isdecimal() else 0
        if not 1 <= number <= len(self._steps):
            self._show_total(tr("1 to {steps_count:,}", steps_count=len(self._steps)))
            self.entry.selectAll()
            return
        self._typed = False
        self._show_total()
        self.picked.emit(number)
        self.set_position(self._position)
        self.entry.selectAll()

    def _show_total(self, wrong: str = "") -> None:
        self.total.say(wrong or tr("of {max:,}", max=max(len(self._steps), self._running)))
        role = "error" if wrong else "caption"
        if self.total.property("role") != role:
            self.total.setProperty("role", role)
            self.total.style().unpolish(self.total)
            self.total.style().polish(self.total)
        self.entry.setAccessibleDescription(
            tr("There are steps {wrong}", wrong=wrong) if wrong else ""
        )

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Show the present step again on Escape, and when the keyboard leaves the number."""
        if watched is not self.entry:
            return super().eventFilter(watched, happened)
        kind = happened.type()
        if isinstance(happened, QKeyEvent) and happened.key() == Qt.Key.Key_Escape:
            if kind == QEvent.Type.KeyPress:
                self._drop_typed()
                self.entry.selectAll()
            return True
        if kind == QEvent.Type.FocusOut:
            self._drop_typed()
        return super().eventFilter(watched, happened)

    def _drop_typed(self) -> None:
        self._typed = False
        self._show_total()
        self.set_position(self._position)

    # The curves

    def _show_names(self) -> None:
        shown = self.shown_curves()
        self.canvas.set_curves(shown)
        words = ", ".join(curve.name for curve in shown) or NO_CURVE
        short = words if len(words) <= LONGEST_NAME else f"{words[: LONGEST_NAME - 1]}…"
        self.names.setText(short.replace("&", "&&"))
        self.names.setVisible(bool(self._curves))
        self.names.setToolTip(tr("{words}: choose what is drawn over the steps", words=words))

    def curve_menu(self) -> QMenu:
        """Return a menu of all curves, each with its choice."""
        menu = QMenu(self)
        shown = self.shown_curves()
        for curve in self._curves:
            action = menu.addAction(curve.name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(curve in shown)
            if curve in shown:
                action.setIcon(self._sample(shown.index(curve)))
            action.toggled.connect(lambda on, name=curve.name: self._choose(name, on))
        return menu

    def _choose(self, name: str, on: bool) -> None:
        self._chosen[name] = on
        self._show_names()

    def _open_names(self) -> None:
        menu = self.curve_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        corner = self.names.mapToGlobal(self.names.rect().topLeft())
        menu.popup(corner - QPoint(0, menu.sizeHint().height()))

    def _sample(self, at: int) -> QIcon:
        """Return a short piece of a curve."""
        colors = self.canvas.colors()
        drawn = QPixmap(32, 16)
        drawn.setDevicePixelRatio(2)
        drawn.fill(Qt.GlobalColor.transparent)
        pen = QPen(colors[at % len(colors)], 2)
        if dashes := DASHES[at % len(DASHES)]:
            pen.setDashPattern([dash / 2 for dash in dashes])
        with QPainter(drawn) as painter:
            painter.setPen(pen)
            painter.drawLine(0, 4, 16, 4)
        return QIcon(drawn)
