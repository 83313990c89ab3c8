"""The top bar leaves out what there is no room for; the status line says what matters most."""

from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.document.state import ENGINE_DIED, Doc, Result, View
from gradscribe.app.window.bars import (
    StatusLine,
    TopBar,
    engine_line,
    problem_line,
    truncation_notes,
)
from gradscribe.engine.protocol.messages import DeviceDetails
from gradscribe.engine.protocol.tape import Place, Problem, Tape
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.buttons import TransportButtons

WRONG = Problem("NameError", "name 'q' is not defined\nmore", hint="Define q first", place=Place(3))


@pytest.fixture
def bar(qtbot):
    # A bar of its own would pass its size hints on to a screen that has none.
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1600, 100)
    over.show()
    made = TopBar(TransportButtons(), over)
    made.over = over
    made.show_doc(Doc(title="L = (x + y) * z"))
    made.show_counts("5 nodes · 3 parameters")
    made.show()
    return made


def test_a_wide_bar_shows_everything(bar):
    bar.resize(1700, 50)
    assert bar.counts.isVisible()
    assert bar.title.text() == "L = (x + y) * z"


def test_at_1440_the_speed_has_its_label_next_to_the_device(bar):
    bar.resize(1440, 50)
    bar.show_counts("")
    bar.show_result(Result(devices=("cpu", "cuda:0")), Doc())
    assert bar.device.isVisible()
    assert bar._buttons.speed_label.isVisible()
    bar.layout().activate()
    shown = (bar.switch, bar.examples, bar.lessons, bar.device, *bar.layers.values())
    for part in (*shown, bar._buttons.play_button, bar._buttons.speed_label):
        assert part.width() >= part.sizeHint().width()
        assert part.mapTo(bar, part.rect().topRight()).x() < bar.width()


@pytest.mark.parametrize("title", ["a.py", "L = (x + y) * z", "a long name of a program.py"])
def test_the_device_grows_only_into_space_that_is_free(bar, title):
    details = DeviceDetails("cpu", "Intel(R) Xeon(R) Platinum 8480+", 135_000_000_000)
    bar.show_counts("")
    bar.show_result(Result(devices=("cpu",), details=(details,)), Doc())
    texts = set()
    for width in range(1000, 2000, 5):
        bar.resize(width, 50)
        bar.show_doc(Doc(title=title))
        bar.layout().activate()
        texts.add(bar.device.text())
        parts = (bar.examples, bar.device, bar._buttons.speed_label, bar._buttons.speed_value)
        for part in filter(QWidget.isVisible, parts):
            assert part.width() >= part.sizeHint().width(), (width, part.text())
        assert bar.layout().minimumSize().width() <= width
    assert len(texts) >= 3


def test_the_word_speed_gives_way_to_the_end_of_a_title(bar):
    bar.show_counts("")
    bar.show_doc(Doc(title="One step of a GAN"))
    narrowest = next(w for w in range(1000, 2000, 5) if _has_whole_title(bar, w))
    assert not bar._buttons.speed_label.isVisible()
    assert all(_has_whole_title(bar, width) for width in range(narrowest, 2000, 20))


def _has_whole_title(bar, width):
    bar.resize(width, 50)
    return bar.title.text() == "One step of a GAN"


def test_a_narrow_bar_keeps_buttons_and_layers(bar):
    bar.resize(1000, 50)
    assert not bar.counts.isVisible()
    shown = (bar.switch, *bar.layers.values(), bar._buttons.play_button, bar._buttons.step_button)
    for button in shown:
        assert button.width() >= button.sizeHint().width()
        assert button.mapTo(bar, button.rect().topRight()).x() < bar.width()


def test_a_long_title_is_cut_in_the_middle(bar):
    bar.resize(1000, 50)
    bar.show_doc(Doc(title="a_very_long_name_of_a_file_" * 5, path="x.py"))
    assert "…" in bar.title.text()
    assert bar.title.toolTip() == "x.py"


def test_a_file_that_is_not_saved_has_a_dot(bar):
    bar.resize(1400, 50)
    bar.show_doc(Doc(source="a", saved="b", path="x.py", title="x.py"))
    assert bar.title.text() == "x.py •"


def test_layers_are_ticked_as_the_view_says(bar):
    bar.show_view(View(values=False, gradients=True, shapes=True))
    assert [button.isChecked() for button in bar.layers.values()] == [False, True, True]


def test_a_click_on_a_layer_is_told(bar):
    told = []
    bar.layer_pressed.connect(lambda name, on: told.append((name, on)))
    bar.layers["shapes"].click()
    assert told == [("shapes", True)]


def test_a_problem_is_one_line_with_its_place_and_hint():
    line = problem_line(Result(problem=WRONG))
    assert line == "Line 3: NameError: name 'q' is not defined — Define q first"
    assert problem_line(Result()) == ""
    assert problem_line(Result(problem=Problem(ENGINE_DIED, "It stopped"))) == "It stopped"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Result(engine="starting"), "PyTorch is starting…"),
        (Result(engine="running"), "Running…"),
        (Result(engine="stopping"), "Stopping…"),
        (Result(engine="ready", shown_id=1, seconds=0.0123), "Ran in 12.3 ms · cpu · seed 0"),
        (Result(engine="ready", shown_id=1, seconds=25.167), "Ran in 25.2 s · cpu · seed 0"),
        (Result(engine="ready", shown_id=1), "cpu · seed 0"),
        (Result(engine="ready", shown_id=1, stale=True, torch="2"), "Showing the last good graph"),
    ],
)
def test_the_engine_in_a_few_words(result, words):
    assert engine_line(result, Doc()).startswith(words)


def test_what_is_said_stands_before_the_caption_and_a_new_problem_before_both(qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.caption("mul makes L")
    assert line.message.text() == "mul makes L"
    line.say("Saved x.py")
    assert line.message.text() == "Saved x.py"
    line.show_result(Result(problem=WRONG), Doc())
    assert "NameError" in line.message.text()
    line.say("Saved x.py")
    assert line.message.text() == "Saved x.py"
    line._quiet.stop()
    line._clear_note()
    line.show_result(Result(), Doc())
    assert line.message.text() == "mul makes L"


def test_what_the_tape_lacks_is_said_in_plain_words(qtbot):
    why = "Recording stopped after 40,000 events; the program ran on."
    result = Result(tape=Tape(truncated=why, dropped=3))
    short, whole = truncation_notes(result)
    assert short == "Recording stopped after 40,000 events · 3 values kept as summaries"
    assert why in whole
    assert "Memory for values" in whole
    line = StatusLine()
    qtbot.addWidget(line)
    line.show_result(result, Doc())
    assert line.note.text() == short
    line.show_result(Result(), Doc())
    assert line.note.isHidden()


def test_a_tape_that_stopped_and_printed_too_much_says_both_in_short():
    why = "Recording stopped after 40,000 events; the program ran on."
    prints = "7 printed lines only in the output; the tape steps through the first 3."
    short, whole = truncation_notes(Result(tape=Tape(truncated=f"{why} {prints}")))
    assert short == "Recording stopped after 40,000 events · 7 printed lines only in the output"
    assert prints in whole


def test_the_memory_held_for_backward_is_shown_where_there_is_some(qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.show_saved_memory(1234)
    assert line.held.text() == "1.2 kB held for backward"
    line.show_saved_memory(None)
    assert line.held.isHidden()


@pytest.mark.parametrize("width", [600, 1000, 2000])
def test_what_plays_has_space_next_to_memory_and_engine(qtbot, width):
    ground = QWidget()
    qtbot.addWidget(ground)
    line = StatusLine(ground)
    line.setStyleSheet("QLabel {font-size: 24px}")
    line.resize(width, 60)
    line.show_result(Result(), Doc())
    line.engine.setText("Ran in 28.2 ms · torch 2.13.0+cpu · cpu · seed 0")
    line.caption("Backward · event 3: the gradient of z is q")
    line.show_saved_memory(1234)
    ground.show()
    assert line.message.width() >= 0.3 * width
    assert line.engine.geometry().right() < width
    assert line.held.isVisible() == (width == 2000)
    is_whole = line.engine.width() >= line.engine.sizeHint().width()
    assert is_whole == (width > 600)
    assert ("torch" in line.engine.toolTip()) != is_whole


def test_the_status_line_follows_the_size_of_text(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    line = StatusLine(ground)
    line.resize(2000, 60)
    line.show_result(Result(), Doc())
    line.engine.setText("Ran in 28.2 ms · torch 2.13.0+cpu · cpu · seed 0")
    ground.show()
    qtbot.waitUntil(lambda: line.engine.width() >= line.engine.sizeHint().width() > 100)
    small = line.engine.width()
    line.setStyleSheet("QLabel {font-size: 30px}")
    qtbot.waitUntil(lambda: line.engine.width() >= line.engine.sizeHint().width() > 1.5 * small)


def test_a_problem_has_the_colour_of_errors_and_not_of_gradients(qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.show_result(Result(problem=WRONG), Doc())
    assert line.message.property("role") == "error"
    line.show_result(Result(), Doc())
    assert line.message.property("role") == "caption"


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.4, 1.6])
def test_at_no_width_and_text_size_do_the_parts_of_the_bar_overlap(bar, qtbot, scale):
    theme = Theme.load("light").scaled(scale)
    bar.over.setStyleSheet(theme.stylesheet(scale))
    bar.show_doc(Doc(title="model.py"))
    bar._buttons.set_theme(theme)
    buttons = bar._buttons
    parts = (buttons.reset_button, buttons.back_button, buttons.step_button, buttons.play_button)
    parts += (buttons.speed_label, buttons.speed_slider, buttons.speed_value)
    parts += (*bar.layers.values(),)
    for width in range(round(1000 * scale), 2400, 8):
        bar.over.resize(width, 80)
        bar.resize(width, 70)
        QApplication.processEvents()
        spans = [
            (part.mapTo(bar, part.rect().topLeft()).x(), part.width())
            for part in parts
            if part.isVisible()
        ]
        for (left, wide), (following, _) in pairwise(spans):
            assert left + wide <= following, (width, spans)


@pytest.mark.parametrize(("scale", "width"), [(1.0, 1000), (2.0, 700), (2.5, 800)])
def test_while_presenting_very_large_text_leaves_play_and_back_whole(bar, scale, width):
    theme = Theme.load("light").scaled(scale)
    bar.over.setStyleSheet(theme.stylesheet(scale))
    bar._buttons.set_theme(theme)
    bar.set_quiet(True)
    bar.over.resize(width, 200)
    bar.resize(width, 150)
    QApplication.processEvents()
    buttons = bar._buttons
    for button in (buttons.back_button, buttons.step_button, buttons.play_button):
        left = button.mapTo(bar, button.rect().topLeft()).x()
        assert button.width() >= button.sizeHint().width()
        assert left + button.width() <= bar.width()
    assert bar.switch.isVisible() == (scale == 1.0)
    bar.set_quiet(False)
    assert bar.switch.isVisible()
    assert buttons.reset_button.isVisible()


def test_a_remark_is_taken_back_where_it_still_stands(qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.caption("x is made")
    line.say("Laying out")
    line.retract("Saved")
    assert line.message.text() == "Laying out"
    line.retract("Laying out")
    assert line.message.text() == "x is made"


def test_a_message_with_marks_in_it_stands_as_the_program_wrote_it(qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.say("<b>x</b>")
    wide = line.message.sizeHint().width()
    line.say("x")
    assert wide > 3 * line.message.sizeHint().width()


def test_a_message_too_long_for_the_line_ends_in_an_ellipsis_and_its_tip_says_all(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(2000, 100)
    over.show()
    line = StatusLine(over)
    line.resize(300, 30)
    line.show()
    words = "Line 38: RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x4 and 12x3)"
    line.say(words)
    assert line.message.text() == line.message.toolTip() == words
    shown = line.message.shown_text()
    assert shown.endswith("…")
    assert words.startswith(shown[:-1])
    assert line.message.fontMetrics().horizontalAdvance(shown) <= line.message.width()
    plain = plain_label(shown, role="caption")
    plain.setParent(line)
    plain.setGeometry(line.message.geometry())
    assert line.message.grab().toImage() == plain.grab().toImage()
    line.resize(2000, 30)
    line.say(words)
    qtbot.waitUntil(lambda: line.message.shown_text() == words)
