"""Requests that wait: of several programs the newest, and none that was stopped."""

from engine import wire
from engine.mailbox import Mailbox


def test_of_several_programs_the_newest_stays():
    mail = Mailbox()
    for number in range(3):
        mail.put(wire.Run(number, ""))
    mail.put(wire.Peek(2, 0))
    assert mail.take() == (wire.Run(2, ""), False)
    assert mail.take()[0] == wire.Peek(2, 0)
    assert mail.idle(0.0)


def test_a_stop_marks_the_program_that_waits_and_no_other():
    mail = Mailbox()
    mail.put(wire.Run(1, ""))
    mail.put(wire.Stop(7))
    mail.put(wire.Stop(1))
    assert mail.take() == (wire.Run(1, ""), True)
    mail.done()
    mail.put(wire.Run(1, ""))
    assert mail.take() == (wire.Run(1, ""), False)
