"""Films beside the living window: in slices, one at a time, and what becomes of each is told."""

import pytest
from PySide6.QtCore import QElapsedTimer, QTimer
from PySide6.QtWidgets import QWidget

from gradscribe.app.export.queue import SLICE_MS, WAIT_MS, ExportJob, ExportQueue
from gradscribe.app.files.documents import Refused
from gradscribe.app.ui.canvas.progress_chip import ProgressChip


class Made(ExportJob):
    """Takes a good part of a slice for each frame."""

    def __init__(self, count=40, fails_at=None):
        super().__init__("film.gif")
        self.count, self.fails_at = count, fails_at
        self.made = 0

    def __len__(self):
        return self.count

    def steps(self):
        for done in range(1, self.count + 1):
            clock = QElapsedTimer()
            clock.start()
            while not clock.hasExpired(4):
                pass
            if done == self.fails_at:
                raise Refused("the disk is full")
            self.made = done
            yield done


@pytest.fixture
def filming(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    made = ExportQueue(ProgressChip(over), over)
    made.over = over  # which is deleted once nothing refers to it
    return made


def test_the_window_has_its_turn_between_slices(filming, qtbot):
    made, turns = Made(), []
    beat = QTimer()
    beat.timeout.connect(lambda: turns.append(made.made))
    beat.start(1)
    with qtbot.waitSignal(filming.ended):
        filming.begin(made)
    beat.stop()
    assert len(turns) >= made.count * 4 // SLICE_MS // 2
    assert len(set(turns)) > 3


def test_what_became_of_it_is_told(filming, qtbot):
    with qtbot.waitSignal(filming.ended) as ended:
        filming.begin(Made(3))
    assert ended.args == ["Wrote film.gif"]
    assert not filming.busy


def test_a_failure_is_told_in_its_own_words(filming, qtbot):
    with qtbot.waitSignal(filming.ended) as ended:
        filming.begin(Made(3, fails_at=2))
    assert ended.args == ["the disk is full"]
    assert not filming.busy


def test_cancel_stops_at_once(filming, qtbot):
    made = Made()
    filming.begin(made)
    with qtbot.waitSignal(filming.ended) as ended:
        QTimer.singleShot(0, filming.cancel)
    assert "not written" in ended.args[0]
    assert made.made < made.count
    filming.cancel()  # once more does nothing


def test_a_second_film_waits_for_nobody(filming):
    filming.begin(Made())
    with pytest.raises(Refused, match="still being written"):
        filming.begin(Made())
    filming.cancel()


def test_while_a_picture_is_awaited_the_window_is_left_alone(filming, qtbot):
    asked = []

    class Waits(Made):
        def steps(self):
            for _ in range(5):
                asked.append(filming._turn.interval())
                yield -1
            yield from super().steps()

    filming.begin(Waits(3))
    with qtbot.waitSignal(filming.ended) as heard:
        pass
    assert heard.args == ["Wrote film.gif"]
    assert asked == [0, *[WAIT_MS] * 4]


def test_what_is_just_put_in_its_place_is_not_given_up(filming, qtbot):
    class Late(Made):
        def try_cancel(self):
            return False

    filming.begin(Late(3))
    with qtbot.waitSignal(filming.ended) as heard:
        filming.cancel()
        assert filming.busy
    assert heard.args == ["Wrote film.gif"]
