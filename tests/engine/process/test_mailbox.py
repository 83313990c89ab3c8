"""Requests that wait: of several programs the newest, and none that was stopped."""

from gradscribe.engine.process.mailbox import Mailbox
from gradscribe.engine.protocol import messages


def test_of_several_programs_the_newest_stays():
    mail = Mailbox()
    for number in range(3):
        mail.put(messages.Run(number, ""))
    mail.put(messages.Peek(2, 0))
    assert mail.take() == (messages.Run(2, ""), False)
    assert mail.take()[0] == messages.Peek(2, 0)
    assert mail.wait_idle(0.0)


def test_a_stop_marks_the_program_that_waits_and_no_other():
    mail = Mailbox()
    mail.put(messages.Run(1, ""))
    mail.put(messages.Stop(7))
    mail.put(messages.Stop(1))
    assert mail.take() == (messages.Run(1, ""), True)
    mail.done()
    mail.put(messages.Run(1, ""))
    assert mail.take() == (messages.Run(1, ""), False)
