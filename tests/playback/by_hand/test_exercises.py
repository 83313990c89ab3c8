"""Exercises run, are never the same twice, and torch knows their answer."""

import pytest
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run
from gradscribe.playback.by_hand.exercises import LEVELS, exercise
from gradscribe.playback.by_hand.targets import all_targets
from gradscribe.playback.tape.index import index_of

EVERY = range(1, len(LEVELS) + 1)


@pytest.mark.parametrize("level", EVERY)
def test_torch_has_an_answer_to_each(level):
    zero = 0
    for seed in range(60):
        made = exercise(level, seed)
        names = run.initial_names(Run(0, ""))
        exec(made.source, names)
        gradient = names[made.asked].grad
        assert torch.isfinite(gradient).all(), made.source
        assert gradient.abs().max() < 1e6, made.source
        zero += int(not gradient.any())
    assert zero <= 6


@pytest.mark.parametrize("level", EVERY)
def test_exercises_differ_and_can_be_made_again(level):
    made = [exercise(level, seed) for seed in range(200)]
    assert len({one.source for one in made}) > 150
    assert made == [exercise(level, seed) for seed in range(200)]


def test_levels_get_longer():
    lengths = [
        sum(exercise(level, seed).source.count("\n") for seed in range(40)) for level in EVERY
    ]
    assert lengths[0] < lengths[1] <= lengths[2]
    assert max(lengths) == lengths[-1]


def test_a_tensor_is_used_more_than_once_where_that_is_the_subject():
    for seed in range(20):
        made = exercise(3, seed)
        tape = run.record(made.source)
        uses = [name for op in tape.ops for name in op.inputs]
        assert len(uses) > len(set(uses)), made.source


@pytest.mark.parametrize("level", EVERY)
def test_the_asked_leaf_is_a_question_of_the_program(level):
    for seed in range(5):
        made = exercise(level, seed)
        tape = run.record(made.source)
        assert tape.error is None
        names = [target.name for target in all_targets(index_of(tape), len(tape.events))]
        assert made.asked in names


@pytest.mark.parametrize("level", [-3, 0, 99])
def test_a_level_that_is_not_there_is_the_nearest(level):
    assert exercise(level, 1) == exercise(max(1, min(level, len(LEVELS))), 1)
