"""What is answered where the engine cannot: each request gets an answer of its own kind."""

from app.jobs import Job, answer
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
