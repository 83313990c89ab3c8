"""Requests without an engine: each gets an answer of its own kind."""

from gradscribe.app.link.requests import PendingRequest, fallback_reply, lost_engine_tape
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Tape


def test_each_request_gets_the_answer_that_belongs_to_it():
    died = Tape(status="died")
    assert fallback_reply(PendingRequest(messages.Run(3, ""), 1.0), died) == messages.Recorded(
        3, died, 0.0
    )
    stopped = fallback_reply(PendingRequest(messages.Run(3, ""), 1.0), None)
    assert stopped.tape.error.type == "Stopped"
    checked = fallback_reply(PendingRequest(messages.Check(4, 5, 6), 1.0), None)
    assert (checked.run_id, checked.value, checked.index) == (4, 5, 6)
    assert not checked.agrees
    assert checked.problem
    assert fallback_reply(PendingRequest(messages.Probe(7, ""), 1.0), None).problem.message
    compared = fallback_reply(PendingRequest(messages.Gradcheck(8, 9), 1.0), None)
    assert (compared.run_id, compared.op, compared.agrees) == (8, 9, False)
    assert compared.problem


def test_the_end_of_a_program_is_told_by_what_it_was_asked_for():
    job = PendingRequest(messages.Run(3, "while True: pass"), 2.0, printed="so far\n")
    died = lost_engine_tape(job, "killed, signal 9", "")
    assert (died.status, died.stdout, died.error.type) == ("died", "so far\n", "Crash")
    job.overdue = True
    assert lost_engine_tape(job, "it does not answer", "").status == "timeout"
    job.stopped = True
    assert lost_engine_tape(job, "it does not answer", "").error.type == "Stopped"
    assert lost_engine_tape(PendingRequest(messages.Probe(7, ""), 1.0), "killed", "") is None


def test_a_program_that_has_ended_did_not_run_too_long():
    job = PendingRequest(messages.Run(3, "x"), 2.0, printed="done\n", has_ended=True)
    job.overdue = True
    tape = lost_engine_tape(job, "it does not answer", "")
    assert (tape.status, tape.stdout) == ("error", "done\n")
    assert "recording was not ready" in tape.error.message
