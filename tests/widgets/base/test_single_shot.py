"""A timer of `single_shot` goes off once for each start."""

from PySide6.QtCore import QObject

from gradscribe.widgets.base.single_shot import single_shot


def test_it_goes_off_once_for_each_start_and_not_before(qtbot):
    owner, told = QObject(), []
    timer = single_shot(owner, lambda: told.append(1))
    assert not timer.isActive()
    for times in (1, 2):
        timer.start()
        timer.start()
        qtbot.waitUntil(lambda: not timer.isActive())
        assert len(told) == times


def test_it_waits_as_long_as_it_was_told_and_dies_with_its_owner(qtbot):
    owner = QObject()
    timer = single_shot(owner, lambda: None, 250)
    assert (timer.interval(), timer.isSingleShot()) == (250, True)
    with qtbot.waitSignal(timer.destroyed):
        owner.deleteLater()
