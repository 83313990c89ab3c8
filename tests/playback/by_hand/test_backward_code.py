"""The outline lists the gradients of a program in the order of the backward pass."""

from gradscribe.engine.run.run import record
from gradscribe.playback.by_hand import targets
from gradscribe.playback.by_hand.backward_code import outline
from gradscribe.playback.tape.index import index_of


def test_the_outline_goes_from_the_loss_to_the_leaves():
    source = "W = param([[1., 2.]])\nh = W * 3\nloss = h.sum()\nloss.backward()"
    index = index_of(record(source))
    found = targets.all_targets(index, 99)
    lines = outline(found, targets.code_names(index, 0, frozenset()), "loss").splitlines()
    assert [line.split("=")[0].strip() for line in lines[-2:]] == ["# dh", "# dW"]
    assert lines[-1].endswith("1 × 2")
    compile("\n".join(lines), "outline", "exec")
