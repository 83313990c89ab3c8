"""Training until something holds: what is asked of the engine, and what is said once it does."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.training.setup import presets
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup


def test_a_step_that_lies_behind_is_not_trained_to(room, begun, train_link, qtbot):
    train_link.state(1, 600)
    asked = len(train_link.sent)
    with qtbot.waitSignal(begun.said) as said:
        room.bar.until_chosen.emit(messages.StopCondition("step", 500.0))
    assert said.args == ["Step 500 has been reached; the axis below goes back to it"]
    assert not any(isinstance(one, messages.Play) for one in train_link.sent[asked:])
    room.bar.until_chosen.emit(messages.StopCondition("step", 601.0))
    assert train_link.last(messages.Play).until == (messages.StopCondition("step", 601.0),)


@pytest.mark.parametrize(
    ("until", "words"),
    [
        (messages.StopCondition("step", 900.0), "Paused at step 1,234"),
        (
            messages.StopCondition("loss_below", 0.001),
            "Paused at step 1,234: the mean of the last 20 losses is below 0.001",
        ),
        (
            messages.StopCondition("plateau", 2000.0),
            "Paused at step 1,234: the loss has not fallen for 2,000 steps",
        ),
    ],
)
def test_what_made_a_run_pause_is_said_once(room, begun, train_link, until, words):
    told = []
    begun.said.connect(told.append)
    room.bar.until_chosen.emit(until)
    train_link.state(1, 600, status="running")
    assert words not in told
    for step in (1234, 1234, 1235):
        # Made line by line, the next step tells of the same condition again.
        train_link.state(1, step, reached=until.kind)
    assert [one for one in told if "Paused" in one] == [words]
    room.bar.until_chosen.emit(messages.StopCondition("loss_below", 0.0005))
    train_link.state(1, 1300, reached="loss_below")
    assert told[-1] == "Paused at step 1,300: the mean of the last 20 losses is below 0.0005"


def test_the_words_of_a_pause_are_withdrawn_once_the_run_goes_on(room, begun, train_link):
    withdrawn = []
    begun.withdrawn.connect(withdrawn.append)
    room.bar.until_chosen.emit(messages.StopCondition("step", 1000.0))
    train_link.state(1, 1000, reached="step")
    assert withdrawn == []
    train_link.state(1, 1001, status="running")
    train_link.state(1, 1100, status="running")
    assert withdrawn == ["Paused at step 1,000"]


def test_a_run_that_is_solved_says_so_and_how_it_goes_on(room, begun, train_link):
    told = []
    begun.said.connect(told.append)
    room.bar.until_chosen.emit(messages.StopCondition("solved"))
    train_link.grow(1, 0, 31)
    train_link.state(1, 30, reached="solved")
    # exp(-step / 100) over the steps 11 to 30
    assert told[-1] == "Solved at step 30: the last 20 losses are 0.8160 on average; Train goes on"


def test_the_speed_that_is_chosen_elsewhere_is_on_the_bar(room, begun):
    assert room.bar.speed_value.said() == "30/s"
    begun.controller.change_speed(4)
    assert room.bar.speed_value.said() == "120/s"


def test_a_pause_for_another_reason_is_not_taken_for_it(room, begun, train_link):
    told = []
    begun.said.connect(told.append)
    room.bar.until_chosen.emit(messages.StopCondition("loss_below", 0.1))
    for reached in ("", "step", "nan", "memory", "plateau"):
        train_link.state(1, 700, reached=reached)
    begun.controller.play()
    train_link.state(1, 800, reached="loss_below")
    assert not any("Paused" in one for one in told)


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize(
    ("step", "offered"),
    [(0, 1000), (999, 1000), (1000, 2000), (24_504, 30_000), (96_750, 100_000), (10**6, 2 * 10**6)],
)
def test_a_round_step_that_is_still_to_come_is_offered(
    room, begun, train_link, qtbot, step, offered
):
    train_link.state(1, step)
    menu = room.bar.until_menu
    menu.popup(room.mapToGlobal(room.rect().center()))
    qtbot.waitUntil(lambda: menu.numbers["step"].field.hasFocus())
    assert menu.numbers["step"].number == offered
    qtbot.keyClicks(menu.numbers["step"].field, "123456789")
    with qtbot.waitSignal(room.bar.until_chosen) as chosen:
        qtbot.keyClick(menu.numbers["step"].field, Qt.Key.Key_Return)
    assert chosen.args == [messages.StopCondition("step", 123456789.0)]


def test_a_step_of_ones_own_that_is_still_to_come_stays(room, begun, train_link):
    menu = room.bar.until_menu
    menu.numbers["step"].set_number(1234)
    for step in (0, 1233, 1234):
        train_link.state(1, step)
        menu.aboutToShow.emit()
        assert menu.numbers["step"].number == (1234 if step < 1234 else 2000)


@pytest.mark.parametrize("steps", [500, 0])
def test_an_end_that_a_file_gives_is_said_once_it_is_reached(room, begun, train_link, steps):
    told = []
    begun.said.connect(told.append)
    end = messages.StopCondition("step", steps)
    presets.train_preset(begun, presets.Preset("a", "a", "", Setup(data=Part("sine"))), (end,))
    train_link.begin(begun.run.run_id, begun.setup)
    assert train_link.last(messages.Play).until == (end,)
    train_link.state(begun.run.run_id, steps, reached="step")
    assert [one for one in told if "Paused" in one] == [f"Paused at step {steps}"]
    assert not begun.controller.plays
    begun.controller.play()
    assert train_link.last(messages.Play).until == ()


def test_an_end_set_for_one_run_does_not_hold_for_the_next_example(room, begun, train_link):
    room.bar.until_chosen.emit(messages.StopCondition("step", 50.0))
    presets.train_preset(begun, presets.Preset("a", "a", "", Setup(data=Part("sine"))))
    train_link.begin(begun.run.run_id, begun.setup)
    assert [until.kind for until in train_link.last(messages.Play).until] == ["solved", "plateau"]
