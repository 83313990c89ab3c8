"""Commands of gradients by hand are there when they make sense."""

import pytest

from gradscribe.app import commands


@pytest.fixture(scope="module")
def by_id():
    return {one.id: one for one in commands.load()}


def test_they_wait_for_a_program(window, by_id):
    for name in ("hand.find", "hand.hide", "hand.reveal", "hand.leave", "hand.code"):
        assert not by_id[name].when(window.context), name
    assert by_id["hand.next"].when(window.context)


def test_a_program_with_a_backward_pass_has_them(settled, by_id):
    context = settled.context
    for name in ("hand.find", "hand.hide", "hand.code"):
        assert by_id[name].when(context), name
    assert not by_id["hand.reveal"].when(context)
    by_id["hand.hide"].run(context)
    assert by_id["hand.hide"].checked(context)
    assert by_id["hand.reveal"].when(context)
    by_id["hand.hide"].run(context)
    assert not by_id["hand.hide"].checked(context)


def test_every_level_is_offered(window, by_id):
    choices = by_id["hand.exercise"].choices(window.context)
    assert [choice.title.split(".")[0] for choice in choices] == [str(n) for n in range(1, 8)]
