"""The thread that sends the scalars of a running program."""

import threading

from gradscribe.engine.run.live import scalar_sender


def test_a_message_goes_out_only_so_often_and_none_after_the_end():
    sent, gate = [], threading.Event()

    class Reader:
        def read(self):
            return ("something",)

    sender = scalar_sender.ScalarSender(lambda run_id, found: (sent.append(run_id), gate.set()))
    sender.begin(7)
    sender._reader = Reader()
    sender.tick()
    assert not sender._sending.is_busy
    sender._sent_at -= 2 * scalar_sender.PERIOD_S
    sender.tick()
    sender.tick()
    assert gate.wait(10)
    sender.end()
    assert sent == [7]
    sender._sent_at = 0.0
    sender.tick()
    assert not sender._sending.is_busy
    sender.close()


def test_a_log_that_cannot_be_read_leaves_the_program_alone():
    class Broken:
        def read(self):
            raise RuntimeError

    sender = scalar_sender.ScalarSender(lambda *_: None)
    sender.begin(1)
    sender._reader, sender._sent_at = Broken(), 0.0
    sender.tick()
    assert sender._reader is None
