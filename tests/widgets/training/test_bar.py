import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gradscribe.engine.protocol.training import StopCondition
from gradscribe.widgets.base.theme import Theme, ui_font
from gradscribe.widgets.base.workspace_switch import WorkspaceSwitch
from gradscribe.widgets.training.bar import TrainingBar, fit_title
from gradscribe.widgets.training.stop_menu import StopMenu


@pytest.fixture
def bar(shown):
    made = shown(TrainingBar(), 1400, 56)
    made.told = []
    made.pressed.connect(made.told.append)
    return made


def test_every_button_tells_its_name(bar):
    for button in (bar.play, bar.step, bar.line, bar.fork):
        button.click()
    assert bar.told == ["play", "step", "line", "fork"]


def test_menus_tell_what_was_chosen(bar):
    for button in (bar.reset, bar.export):
        for action in button.menu().actions():
            action.trigger()
    assert bar.told[:3] == ["reset", "new_weights", "new_data"]
    assert len(bar.told) == 9


def test_the_play_button_keeps_its_width(bar):
    wide = bar.play.width()
    bar.set_playing(True)
    bar.layout().activate()
    assert bar.play.text() == "Pause"
    assert bar.play.width() == wide


def test_the_right_end_of_the_speed_is_no_limit(bar):
    assert bar.rate() == 0.0
    bar.speed.setValue(0)
    assert bar.rate() == 1.0
    bar.speed.setValue(bar.speed.maximum())
    assert bar.rate() == 0.0


@pytest.mark.parametrize("rate", [1.0, 30.0, 200.0, 2000.0, 4000.0, 0.0])
def test_a_rate_that_was_set_elsewhere_is_shown_and_not_sent_again(bar, rate, qtbot):
    with qtbot.assertNotEmitted(bar.rate_changed):
        bar.set_rate(rate)
    assert bar.speed_value.said() == (f"{rate:,.0f}/s" if rate else "max")
    assert (bar.speed.value() == bar.speed.maximum()) is (rate == 0)
    if 0 < rate < 3000:
        assert bar.rate() == pytest.approx(rate, rel=0.1)


@pytest.mark.parametrize("width", [1000, 1200, 1800])
def test_nothing_is_cut_off_at_any_width(bar, width):
    bar.set_words("a very long name of data · and model · and optimizer 0.001", "step 1,000,000")
    bar.host.resize(width, 60)
    bar.resize(width, 56)
    bar.layout().activate()
    for button in (bar.reset, bar.line, bar.step, bar.play, bar.until, bar.fork, bar.export):
        assert button.width() >= button.minimumSizeHint().width()
        assert button.geometry().right() <= width


def test_very_large_type_leaves_out_the_set_ups_rather_than_cut_a_button(bar):
    bar.setStyleSheet("QPushButton { font-size: 34px; padding: 4px 12px; }")
    bar.host.resize(1060, 60)
    bar.resize(1060, 56)
    bar.layout().activate()
    assert not bar.examples.isVisible()
    for button in (*bar.switch.buttons.values(), bar.reset, bar.play, bar.until):
        assert button.width() >= button.minimumSizeHint().width()
    bar.resize(2400, 56)
    assert bar.examples.isVisible()


@pytest.fixture
def bar_at(shown, qapp):
    """Return a bar in a window of some width, dressed as at a text size."""
    sheet, font = qapp.styleSheet(), qapp.font()

    def make(scale, width):
        theme = Theme.load("light").scaled(scale)
        qapp.setFont(ui_font(13 * scale))
        qapp.setStyleSheet(theme.stylesheet(scale))
        made = shown(TrainingBar(), width, 120)
        made.set_theme(theme)
        made.set_words("houses · polynomial · adam 0.003", "step 12,520 · 1,400 steps/s")
        made.layout().activate()
        return made

    yield make
    qapp.setStyleSheet(sheet)
    qapp.setFont(font)


@pytest.mark.parametrize("scale", [1.5, 1.75, 2.0, 2.5])
def test_big_text_has_a_second_row_and_nothing_is_cut(bar_at, scale):
    bar = bar_at(scale, 1280)
    assert bar.minimumSizeHint().width() <= 1280
    assert bar.title.text() == "houses · polynomial · adam 0.003"
    assert bar.where.text() in ("step 12,520 · 1,400 steps/s", "step 12,520")
    parts = [*bar.findChildren(QPushButton), bar.title, bar.where, bar.speed, bar.speed_value]
    for part in (one for one in parts if one.isVisible()):
        assert part.width() >= part.minimumSizeHint().width()
        right = part.mapTo(bar, QPoint(part.width(), 0)).x()
        assert right <= 1280
    assert bar.title.y() > bar.play.geometry().bottom()
    assert bar.fork.isVisible()
    assert bar.export.isVisible()


def test_the_second_row_goes_where_there_is_room_for_one(bar_at):
    bar = bar_at(1.5, 1280)
    tall = bar.sizeHint().height()
    bar.host.resize(2400, 120)
    bar.resize(2400, 120)
    bar.layout().activate()
    assert bar.sizeHint().height() < tall
    assert bar.speed.x() < bar.title.x() < bar.fork.x()
    bar.host.resize(1280, 120)
    bar.resize(1280, 120)
    bar.layout().activate()
    assert bar.sizeHint().height() == tall


def test_the_usual_text_stays_in_one_row(bar_at):
    bar = bar_at(1.0, 1280)
    assert bar.title.geometry().center().y() == pytest.approx(
        bar.play.geometry().center().y(), abs=2
    )


def test_words_that_grow_push_no_button(bar):
    bar.set_words("moons · mlp", "step 1")
    bar.layout().activate()
    before = [button.x() for button in (bar.reset, bar.step, bar.play, bar.until, bar.speed)]
    bar.set_words("moons · mlp · adam 0.03", "step 1,000,000 · 12,000 steps/s")
    bar.layout().activate()
    after = [button.x() for button in (bar.reset, bar.step, bar.play, bar.until, bar.speed)]
    assert before == after


def test_what_is_trained_is_never_cut_in_a_letter(bar):
    bar.set_words("line · linear · sgd 100", "step 8")
    for width in range(1000, 1500, 2):
        bar.host.resize(width, 60)
        bar.resize(width, 56)
        bar.layout().activate()
        for part in (bar.title, bar.where):
            if part.isVisible():
                assert part.fontMetrics().horizontalAdvance(part.text()) <= part.width()


def test_until_tells_a_condition_with_its_number(qtbot):
    menu, told = StopMenu(), []
    qtbot.addWidget(menu)
    menu.chosen.connect(told.append)
    for condition in (0, 1, 3):
        menu.condition.setCurrentIndex(condition)
        menu.go.click()
    assert told == [
        StopCondition("step", 1000.0),
        StopCondition("loss_below", 0.05),
        StopCondition("nan", 0.0),
    ]


def until(menu, condition, typed):
    """Type a number for the condition of that place, and press Return."""
    menu.condition.setCurrentIndex(condition)
    number = menu.numbers[menu.condition.currentData()]
    QTest.keyClick(number.field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(number.field, typed)
    QTest.keyClick(number.field, Qt.Key.Key_Return)


def test_what_one_presses_stays_where_it_is_whatever_the_condition(qtbot):
    menu = StopMenu()
    qtbot.addWidget(menu)
    inside, places = menu.go.parentWidget(), set()
    for condition in range(menu.condition.count()):
        menu.condition.setCurrentIndex(condition)
        inside.layout().activate()
        inside.layout().setGeometry(QRect(QPoint(0, 0), inside.sizeHint()))
        places.add((menu.go.x(), inside.sizeHint().width()))
    assert len(places) == 1


def test_return_that_is_meant_for_the_list_does_not_close_the_panel(qtbot):
    menu, closed = StopMenu(), []
    qtbot.addWidget(menu)
    menu.aboutToHide.connect(lambda: closed.append(True))
    menu.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    menu.setActiveAction(menu.actions()[0])
    triggered = []
    menu.triggered.connect(triggered.append)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert triggered == closed == []


def test_return_in_the_number_trains_until_it(qtbot):
    menu, told = StopMenu(), []
    qtbot.addWidget(menu)
    menu.chosen.connect(told.append)
    until(menu, 0, "250")
    until(menu, 1, "1e-3")
    until(menu, 2, "40")
    assert told == [
        StopCondition("step", 250.0),
        StopCondition("loss_below", 0.001),
        StopCondition("plateau", 40.0),
    ]


@pytest.mark.parametrize(
    ("condition", "typed", "words"),
    [
        (0, "soon", "soon is not a whole number"),
        (0, "0", "At least 1"),
        (2, "10.5", "10.5 is not a whole number"),
        (1, "-1", "At least 0"),
        (1, "1e999", "The number has to be finite"),
        (1, "", "Nothing is not a number"),
    ],
)
def test_a_number_that_cannot_be_is_refused_where_it_stands(qtbot, condition, typed, words):
    menu, told = StopMenu(), []
    qtbot.addWidget(menu)
    menu.chosen.connect(told.append)
    height = menu.sizeHint().height()
    until(menu, condition, typed or "\b")
    menu.go.click()
    assert menu.problem.said() == words
    assert not menu.problem.isHidden()
    assert menu.sizeHint().height() > height
    assert told == []
    until(menu, condition, "77")
    assert [one.value for one in told] == [77.0]
    assert menu.problem.isHidden()
    assert menu.sizeHint().height() == height


def test_the_switch_shows_one_room(shown):
    switch, told = shown(WorkspaceSwitch()), []
    switch.picked.connect(told.append)
    switch.buttons["training"].click()
    switch.show_workspace("program")
    assert told == ["training"]
    assert switch.buttons["program"].isChecked()
    assert not switch.buttons["training"].isChecked()


def test_a_title_takes_the_room_that_there_is(bar):
    title = "moons · mlp · adam 0.03 · validate with grad"
    bar.host.resize(1800, 60)
    bar.resize(1800, 56)
    bar.set_words(title, "step 600,000")
    assert bar.title.text() == title
    assert bar.where.isVisible()


def test_a_title_is_whole_before_the_speed_is_told(bar):
    title = "moons · mlp · adam · no zero grad"
    metrics, small = bar.title.fontMetrics(), bar.where.fontMetrics()
    seen = set()
    for width in range(1000, 1800, 5):
        bar.host.resize(width, 60)
        bar.resize(width, 56)
        bar.set_words(title, "step 300 · 2,400 steps/s")
        if bar.where.text() == "step 300":
            left = bar.fork.x() - bar.title.x() - metrics.horizontalAdvance(title)
            seen.add(bar.title.text() == title)
            assert bar.title.text() == title or left < small.horizontalAdvance("step 300") + 60
    assert True in seen


@pytest.mark.parametrize(
    "left", ["moons · mlp · adam 0.03", "… · mlp · adam 0.03", "… · adam 0.03"]
)
def test_of_a_title_what_tells_runs_apart_stays(qapp, left):
    metrics = QFontMetrics(QFont())
    width = metrics.horizontalAdvance(left)
    assert fit_title("moons · mlp · adam 0.03", metrics, width) == left
    assert fit_title("moons · mlp · adam 0.03", metrics, width - 1) != left


def test_the_first_part_of_a_title_is_shortened_before_it_is_left_out(qapp):
    metrics = QFontMetrics(QFont())
    title = "penguins_of_palmer.csv · MLP · Adam 0.03"
    made = fit_title(title, metrics, metrics.horizontalAdvance(title) - 1)
    assert made.startswith("penguins")
    assert made.endswith(".csv · MLP · Adam 0.03")
    assert metrics.horizontalAdvance(made) < metrics.horizontalAdvance(title)


def test_a_part_that_is_too_long_alone_is_cut(qapp):
    metrics = QFontMetrics(QFont())
    made = fit_title("houses · a_very_long_name_of_a_run", metrics, 60)
    assert "…" in made
    assert made[-1] == "n"
    assert metrics.horizontalAdvance(made) <= 60


def test_the_speed_gives_way_to_the_step(bar):
    where = "step 1,200 · 900 steps/s"
    seen = []
    for width in range(1800, 900, -10):
        bar.host.resize(width, 60)
        bar.resize(width, 56)
        bar.set_words("moons · mlp · adam", where)
        seen.append(bar.where.text() if bar.where.isVisible() else "")
    kinds = list(dict.fromkeys(seen))
    assert kinds[:2] == [where, "step 1,200"]


def test_words_that_are_left_out_would_not_have_fitted(bar):
    whole = "step 12,520 · 1,400 steps/s"
    bar.set_words("moons · mlp", whole)
    metrics, gap = bar.where.fontMetrics(), bar.layout().spacing()
    kept = set()
    for width in range(1000, 1500, 2):
        bar.host.resize(width, 60)
        bar.resize(width, 56)
        bar.layout().activate()
        text = bar.where.text() if bar.where.isVisible() else ""
        kept.add(text)
        spare = bar.fork.x() - bar.title.geometry().right() - 2 * gap
        assert metrics.horizontalAdvance(text) <= spare or not text
        longer = {"": whole.partition(" · ")[0], whole.partition(" · ")[0]: whole}.get(text)
        assert longer is None or spare < metrics.horizontalAdvance(longer) + 2 * gap
    assert {whole, whole.partition(" · ")[0]} <= kept


@pytest.mark.qt_log_ignore("This plugin does not support raise")
def test_tab_goes_round_the_panel(qtbot):
    menu = StopMenu()
    qtbot.addWidget(menu)
    menu.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    menu.popup(QPoint(0, 0))
    number = menu.numbers["step"].field
    seen = []
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Tab, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        QTest.keyClick(menu.focusWidget(), key)
        seen.append(menu.focusWidget())
    assert seen == [menu.go, menu.condition, number, menu.condition]
    # The last condition has no number.
    menu.condition.setCurrentIndex(3)
    QTest.keyClick(menu.condition, Qt.Key.Key_Tab)
    assert menu.focusWidget() is menu.go
