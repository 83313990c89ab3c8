"""Long tapes are compared beside the window: it says how far that is, and it can be given up."""

import threading

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradscribe.app.compare import progress_card
from gradscribe.app.compare.controller import CompareCard, CompareController
from gradscribe.app.compare.progress_card import INLINE_EVENTS, CompareProgressCard
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.run.run import record
from gradscribe.playback.compare.comparison import Comparison

COUNT = 700
SOURCE = (
    f"x = param(1.0)\ny = x\nfor i in range({COUNT}):\n    y = y * 1.001\nz = y + 1\nz.backward()"
)


@pytest.fixture(scope="module")
def pair():
    made = record(SOURCE), record(SOURCE.replace("y + 1", "y + 2"))
    assert sum(len(tape.events) for tape in made) > INLINE_EVENTS
    return made


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    return made


def test_it_finds_what_a_comparison_at_once_finds(pair, host, qtbot):
    wait, shares = CompareProgressCard(host, *pair), []
    wait.bar.valueChanged.connect(lambda value: shares.append(value / wait.bar.maximum()))
    with qtbot.waitSignal(wait.compared, timeout=30_000) as heard:
        pass
    (compared,) = heard.args
    assert compared.differences == Comparison(*pair).differences
    assert len(compared.differences) >= 1
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > COUNT / 200


def test_the_comparison_opens_once_it_is_made(pair, host, qtbot):
    theming = Theming(Settings(), host)
    comparing = CompareController(host, theming, host)
    assert comparing.show((pair[0], "before"), (pair[1], "after")) is None
    (wait,) = host.findChildren(CompareProgressCard)
    assert wait.isVisible()
    qtbot.waitUntil(lambda: bool(host.findChildren(CompareCard)), timeout=30_000)
    (card,) = host.findChildren(CompareCard)
    assert card.caption.text() == Comparison(*pair).summary()
    card.leave()
    theming.close()


def held(monkeypatch):
    """Let comparisons wait until they are allowed to go on."""
    begun, go_on = threading.Event(), threading.Event()

    class Held(Comparison):
        def __init__(self, left, right, told):
            begun.set()
            assert go_on.wait(30)
            super().__init__(left, right, told)

    monkeypatch.setattr(progress_card, "Comparison", Held)
    return begun, go_on


def test_cancelled_it_opens_nothing_and_ends(pair, host, qtbot, monkeypatch):
    begun, go_on = held(monkeypatch)
    heard = []
    wait = CompareProgressCard(host, *pair)
    wait.compared.connect(heard.append)
    wait.open()
    assert begun.wait(30)
    wait.cancel_button.click()
    go_on.set()
    qtbot.waitUntil(lambda: host.findChildren(PopupCard) == [])
    qtbot.waitUntil(lambda: not isValid(wait.worker))
    assert heard == []


def test_cancelled_it_is_gone_before_its_thread_ends(pair, host, qtbot, monkeypatch):
    begun, go_on = held(monkeypatch)
    wait = CompareProgressCard(host, *pair)
    work = wait.worker
    wait.open()
    assert begun.wait(30)
    wait.cancel_button.click()
    qtbot.waitUntil(lambda: host.findChildren(PopupCard) == [])
    assert isValid(work)
    go_on.set()
    qtbot.waitUntil(lambda: not isValid(work))


def test_a_fault_of_ours_leaves_no_card_that_waits_for_ever(pair, host, qtbot, monkeypatch):
    def fail(*_args, **_rest):
        raise ValueError("a fault of ours")

    monkeypatch.setattr(Comparison, "compute_all", fail)
    with qtbot.captureExceptions() as faults:
        CompareProgressCard(host, *pair).open()
        qtbot.waitUntil(lambda: host.findChildren(PopupCard) == [])
    assert [type(fault[1]) for fault in faults] == [ValueError]


def test_one_that_is_over_before_anybody_looks_is_heard_of(pair, host, qtbot):
    heard = []
    wait = CompareProgressCard(host, *pair)
    assert wait.findChild(QThreadPool).waitForDone(30_000)
    wait.compared.connect(heard.append)
    wait.open()
    qtbot.waitUntil(lambda: len(heard) == 1)
    qtbot.waitUntil(lambda: host.findChildren(PopupCard) == [])
