from playback.explain import explain
from playback.explain.broadcast import is_stretched, stretched_dims
from playback.index import Index


def test_the_stretched_dimensions_are_those_that_were_one_or_missing():
    assert stretched_dims((3,), (2, 3)) == [0]
    assert stretched_dims((2, 1), (2, 3)) == [1]
    assert stretched_dims((), (2, 3)) == [0, 1]
    assert stretched_dims((2, 3), (2, 3)) == []
    assert stretched_dims((1, 1), (1, 1)) == []


def test_a_stretched_bias_is_said_to_be_summed(recorded):
    tape = recorded(
        "x = torch.ones(16, 3)\nb = torch.zeros(3, requires_grad=True)\ny = x + b\n"
        "y.sum().backward()"
    )
    found = explain(tape, op=0, position=len(tape.events))
    assert "The share of b is summed over dimension 0 (16) because b was stretched" in found.words
    assert is_stretched(Index(tape), tape.ops[0], 1)
    assert not is_stretched(Index(tape), tape.ops[0], 0)


def test_what_fits_is_not_said_to_be_stretched(recorded):
    tape = recorded("a = torch.ones(3, requires_grad=True)\n(a + a).sum().backward()")
    assert "stretched" not in explain(tape, op=0, position=len(tape.events)).words
