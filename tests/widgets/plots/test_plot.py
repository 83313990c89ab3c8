"""A plot is drawn when it asks for that; what Qt wants painted again is copied."""

import numpy as np
import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.plot import TICK_PX, Plot, draw_left_axis, plot_frame
from gradscribe.widgets.plots.views.curve_plot import CurvePlot


class Told(Plot):
    """Counts how often it is drawn; fails where it is told to."""

    drawn, fails = 0, False

    def draw(self, painter, area):
        """Draw something with words, lines and a colour in it."""
        self.drawn += 1
        if self.fails:
            raise ValueError("no")
        painter.fillRect(area.adjusted(60, 10, -10, -30), self.theme.forward)
        draw_left_axis(
            painter, area.adjusted(50, 5, -5, -5), Axis(0, 1), self.theme, [(0.4, "0.4")]
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "words in the pen of the axis")


@pytest.fixture
def plot(qtbot):
    # A bare host: a window with a layout hands its least size to the window system.
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(400, 300)
    made = Told("Told", parent=host)
    made.host = host
    made.resize(300, 200)
    with qtbot.waitExposed(host):
        host.show()
    qtbot.waitUntil(lambda: made.drawn > 0)
    made.grab()
    made.drawn = 0
    return made


def test_what_is_painted_again_is_not_drawn_again(plot):
    card = QWidget(plot)
    card.setGeometry(plot.rect())
    for _ in range(5):
        card.show()
        plot.repaint()
        card.hide()
        plot.grab()
    assert not plot.drawn


@pytest.mark.parametrize(
    "change",
    [
        Plot.refresh,
        lambda plot: plot.set_theme(Theme.load("dark")),
        lambda plot: plot.resize(320, 200),
        lambda plot: plot.resize(300, 230),
    ],
)
def test_a_plot_that_changes_is_drawn_once(plot, change):
    change(plot)
    plot.grab()
    plot.grab()
    assert plot.drawn == 1


def test_what_comes_to_stand_on_a_plot_has_it_drawn_anew(plot):
    label = QLabel("over it", plot.canvas)
    label.show()
    plot.grab()
    assert plot.drawn == 1
    label.hide()
    plot.grab()
    assert plot.drawn == 2


def test_the_kept_picture_is_what_a_plot_draws(plot, monkeypatch):
    kept = plot.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    monkeypatch.setattr(plot, "draw", lambda *_: None)
    plot.refresh()
    straight = plot.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    monkeypatch.undo()
    painter = QPainter(straight)
    try:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot.draw(painter, plot.canvas.rect().toRectF())
    finally:
        painter.end()
    apart = np.abs(_pixels(kept) - _pixels(straight))
    # Mixed with the ground in two roundings in place of one; the edges of some fonts' letters
    # are weighed otherwise where the ground is not there yet.
    assert (apart > 2).mean() < 0.01
    assert apart.max() <= 20
    assert _pixels(kept).std() > 10


def _pixels(image):
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    return rows[..., :3].astype(int)


def test_between_the_pixels_of_the_screen_a_plot_is_drawn_straight(plot, monkeypatch):
    monkeypatch.setattr(plot.canvas, "devicePixelRatioF", lambda: 1.25)
    whole = QRect(plot.canvas.rect())
    plot.canvas.grab(whole)
    plot.canvas.grab(whole)
    assert plot.drawn == 2


def test_a_plot_that_cannot_be_drawn_tries_again(plot):
    plot.fails = True
    plot.refresh()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            plot.canvas.grab()
    plot.fails = False
    plot.grab()
    plot.grab()
    assert plot.drawn == 3


def test_a_position_that_moves_is_seen_without_being_asked_for(qtbot):
    plot = CurvePlot("Loss")
    qtbot.addWidget(plot)
    drawn = []
    plot.draw = lambda *_: drawn.append(plot.position)
    plot.grab()
    for step in (3.0, 3.0, None):
        plot.position = step
        plot.grab()
    assert drawn == [None, 3.0, None]


def test_words_make_room_for_the_picture(plot):
    words = "blue: above zero, orange: below"
    plot.set_caption(words)
    assert plot.caption.isVisible()
    plot.resize(300, 150)
    assert not plot.caption.isVisible()
    assert plot.heading.toolTip() == words
    assert plot.accessibleDescription() == words
    plot.resize(300, 300)
    assert plot.caption.isVisible()
    assert not plot.heading.toolTip()
    plot.resize(300, 220)
    assert plot.caption.isVisible()
    plot.set_theme(Theme.load("light").scaled(2.0))
    assert not plot.caption.isVisible()
    plot.set_theme(Theme.load("light"))
    # The longer the words, the more of them.
    plot.resize(120, 240)
    plot.set_caption(f"{words}, {words}, {words}, {words}")
    assert not plot.caption.isVisible()
    plot.set_caption("")
    assert not plot.caption.isVisible()
    assert not plot.heading.toolTip()


def test_a_title_of_several_lines_makes_room_for_the_picture(plot):
    for word in ("Validation", "Discrete"):
        plot.tools.addWidget(QLabel(word))
    plot.heading.set_text("What the network says of it")
    plot.setAccessibleName("What the network says of it")
    plot.resize(500, 180)
    assert plot.heading.isVisible()
    plot.resize(220, 160)
    assert not plot.heading.isVisible()
    assert plot.canvas.toolTip() == "What the network says of it"
    plot.layout().activate()
    last = plot.tools.itemAt(1).widget()
    assert last.geometry().right() >= 220 - 20, "what stood at the right stays there"
    plot.resize(220, 400)
    assert plot.heading.isVisible(), "there is room for two lines"
    assert not plot.canvas.toolTip()


@pytest.mark.parametrize("scale", [0.7, 1.0, 1.5, 2.0, 2.5])
def test_the_numbers_below_are_whole_whatever_the_size_of_the_text(qapp, scale):
    theme, area = Theme.load("light").scaled(scale), QRectF(0, 0, 500, 300)
    ticks = [(0.0, "0"), (1.0, "1.0")]
    frame = plot_frame(area, 6, ticks, theme)
    letters = QFontMetricsF(theme.font(TICK_PX, 500))
    # They stand on a line that lies their height and a pixel below the frame.
    line = frame.bottom() + letters.height() + 1
    assert line + letters.boundingRect("0123456789e").bottom() <= area.bottom()
    assert frame.left() - 6 - letters.horizontalAdvance("1.0") >= 0


def test_the_step_stands_before_the_tools_and_makes_way_for_them(plot):
    tool = QWidget()
    tool.setFixedSize(120, 20)
    plot.tools.addWidget(tool)
    tool.show()
    assert not plot.step.isVisible()
    plot.show_step(12345)
    assert plot.step.said() == "step 12,345"
    assert plot.step.isVisible()
    plot.layout().activate()
    assert plot.step.geometry().right() < tool.geometry().left()
    needed = plot.heading.title_width() + plot.step.sizeHint().width() + tool.width()
    plot.resize(needed, 200)
    assert not plot.step.isVisible(), "the title and the tools have no space left for it"
    assert plot.heading.isVisible()
    plot.resize(needed + 60, 200)
    assert plot.step.isVisible()
    plot.show_step(None)
    assert not plot.step.isVisible()


def test_a_title_with_a_word_wider_than_its_space_is_hidden_and_in_the_tool_tip(shown):
    plot = Plot("Model output")
    for words in ("Validation", "Discrete"):
        plot.tools.addWidget(QPushButton(words))
    plot = shown(plot, 600, 500)
    assert plot.heading.isVisible()
    for width in range(600, 150, -5):
        plot.resize(width, 500)
        plot.layout().activate()
        if plot.heading.isVisible():
            tools = [plot.tools.itemAt(n).widget() for n in range(plot.tools.count())]
            left = min(tool.x() for tool in tools if tool.isVisible())
            word = plot.heading.longest_word_width()
            assert plot.heading.x() + word <= left, width
    assert not plot.heading.isVisible()
    assert plot.canvas.toolTip() == "Model output"
