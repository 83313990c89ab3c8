"""What is answered where the engine cannot: each request gets an answer of its own kind."""

from app.jobs import Job, answer, epitaph
from engine import wire
from engine.tape import Tape


def test_each_request_gets_the_answer_that_belongs_to_it():
    died = Tape(status="died")
    assert answer(Job(wire.Run(3, ""), 1.0), died) == wire.Recorded(3, died, 0.0)
    stopped = answer(Job(wire.Run(3, ""), 1.0), None)
    assert stopped.tape.error.type == "Stopped"
    checked = answer(Job(wire.Check(4, 5, 6), 1.0), None)
    assert (checked.run_id, checked.value, checked.index) == (4, 5, 6)
    assert not checked.agrees
    assert checked.problem
    assert answer(Job(wire.Probe(7, ""), 1.0), None).problem.message
    compared = answer(Job(wire.Gradcheck(8, 9), 1.0), None)
    assert (compared.run_id, compared.op, compared.agrees) == (8, 9, False)
    assert compared.problem


def test_the_end_of_a_program_is_told_by_what_it_was_asked_for():
    job = Job(wire.Run(3, "while True: pass"), 2.0, printed="so far\n")
    died = epitaph(job, "killed, signal 9", "")
    assert (died.status, died.stdout, died.error.type) == ("died", "so far\n", "Crash")
    job.overdue = True
    assert epitaph(job, "it does not answer", "").status == "timeout"
    job.stopped = True
    assert epitaph(job, "it does not answer", "").error.type == "Stopped"
    assert epitaph(Job(wire.Probe(7, ""), 1.0), "killed", "") is None
