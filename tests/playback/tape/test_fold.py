import random
from functools import partial

from gradscribe.playback.tape.fold import CheckpointedFold


def log_of(length, steps):
    def step(state, at):
        steps.append(at)
        state.append(at)

    return partial(CheckpointedFold(length, [], list).at, step=step)


def test_a_state_is_the_fold_of_the_steps_before_it_wherever_one_jumps():
    at = log_of(5_000, [])
    for position in random.Random(1).choices(range(5_001), k=200):
        assert len(at(position)) == position
        assert at(position)[-3:] == list(range(position))[-3:]


def test_positions_beyond_the_ends_are_held_inside():
    at = log_of(10, [])
    assert at(-5) == []
    assert at(99) == list(range(10))


def test_stepping_forward_takes_one_step_each():
    steps = []
    at = log_of(1_000, steps)
    at(500)
    steps.clear()
    at(501)
    assert steps == [500]


def test_a_jump_back_starts_at_a_checkpoint_nearby():
    steps = []
    at = log_of(20_000, steps)
    at(20_000)
    steps.clear()
    at(12_345)
    assert len(steps) <= 20_000 // 32
