"""Tapes are shown without hidden gradients, and the recorded ones are not lost."""

from gradscribe.app.document.gradient_hiding import GradientHiding
from gradscribe.playback.tape.index import index_of

SOURCE = "w = param(3.0)\nloss = w * w\nloss.backward()"


def test_tapes_stay_as_they_are_while_nothing_is_hidden(record):
    hiding, tape = GradientHiding(), record(SOURCE)
    assert hiding.hidden(tape) is tape
    assert hiding.recorded(tape) is tape


def test_a_hidden_tape_leads_back_to_the_recorded_one(record):
    hiding, tape = GradientHiding(), record(SOURCE)
    hiding.switch(True)
    shown = hiding.hidden(tape)
    assert shown.snapshots[shown.accumulations[0].sent].is_hidden
    assert hiding.recorded(shown) is tape


def test_what_was_found_is_hidden_again_in_another_program(record):
    hiding, tape = GradientHiding(), record(SOURCE)
    hiding.switch(True)
    hiding.begin((SOURCE, "cpu", 0))
    hiding.show(*index_of(tape).arrivals)
    hiding.begin((SOURCE, "cpu", 0))
    assert hiding.hidden(tape) is tape
    hiding.begin((SOURCE, "cpu", 1))
    assert hiding.hidden(tape) is not tape
