"""Exchange of two tensors, which torch refuses where it finds weak references."""

import pytest

from tests.engine.mirror import mirror, numbers

SWAPPING = "torch.__future__.set_swap_module_params_on_conversion(True)\n"
RESTORE = "torch.__future__.set_swap_module_params_on_conversion(False)\n"
PROGRAMS = {
    "seen": "a, b = torch.ones(2), torch.zeros(2)\nc = a + b\n"
    "torch.utils.swap_tensors(a, b)\nprint(a, b, a * 2)\n",
    "unseen": "a, b = torch.ones(2), torch.zeros(2)\n"
    "torch.utils.swap_tensors(a, b)\nprint(a, b)\nprint(a * 3 + b)\n",
    "leaves": "a, b = param([1.0, 2.0]), param([3.0, 4.0])\n(a * b).sum().backward()\n"
    "torch.utils.swap_tensors(a, b)\nprint(a, a.grad, b.grad)\n(a * a).sum().backward()\n",
    "to": SWAPPING
    + "net = nn.Linear(2, 1)\nkept = net.weight\nnet(torch.ones(1, 2))\nnet.to(torch.float64)\n"
    "print(kept is net.weight, net.weight.dtype)\n"
    "net(torch.ones(1, 2, dtype=torch.float64)).sum().backward()\n" + RESTORE,
    "load_state_dict": SWAPPING
    + "net, other = nn.Linear(2, 1), nn.Linear(2, 1)\nnet(torch.ones(1, 2))\n"
    "net.load_state_dict(other.state_dict())\n"
    "net(torch.ones(1, 2)).sum().backward()\nprint(net.weight, net.weight.grad)\n" + RESTORE,
    "refused": "import weakref\na, b = torch.ones(2), torch.zeros(2)\nc = a + b\n"
    "known = weakref.WeakKeyDictionary({})\nr = weakref.ref(a, print)\n"
    "torch.utils.swap_tensors(a, b)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_tensors_are_exchanged_as_in_plain_torch(name):
    mirror(PROGRAMS[name])


def test_an_op_after_the_exchange_sees_the_other_data_and_the_tape_says_so():
    tape = mirror(PROGRAMS["seen"])
    values = {v.id: v for v in tape.values}
    (given,) = (op.inputs for op in tape.ops if op.op == "mul")
    assert numbers(tape, values[given[0]].snapshot).tolist() == [0.0, 0.0]
    changed = {values[c.before].name for write in tape.writes for c in write}
    assert changed == {"a", "b"}


def test_a_conversion_that_frees_the_first_memory_confuses_no_later_tensor():
    tape = mirror(
        SWAPPING + "net = nn.Linear(2, 1)\nnet(torch.ones(1, 2))\nnet.to(torch.float64)\n"
        "rows = [torch.ones(1, 2, dtype=torch.float64) for _ in range(50)]\n"
        "for row in rows:\n    row.mul_(2)\n" + RESTORE
    )
    weights = [v.storage for v in tape.values if v.name == "net.weight"]
    assert not set(weights) & {v.storage for v in tape.values if v.name == "row"}
