import numpy as np

from tests.engine.mirror import mirror, numbers

NESTED = """\
a, b = torch.ones(2, 4, requires_grad=True), torch.ones(3, 4, requires_grad=True)
nt = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
w = torch.arange(16.0).reshape(4, 4).requires_grad_()
out = F.linear(nt, w)
torch.nested.to_padded_tensor(out, 0.0).sum().backward()
"""


def test_a_jagged_tensor_shows_its_rows():
    tape = mirror(NESTED)
    out = next(value for value in tape.values if value.name == "out")
    rows = np.ones((5, 4), np.float32) @ np.arange(16, dtype=np.float32).reshape(4, 4).T
    np.testing.assert_array_equal(numbers(tape, out.snapshot), rows)
    assert out.shape == (5, 4)


def test_gradients_pass_between_jagged_tensors():
    tape = mirror(NESTED)
    assert all(edge.gradient is not None for edge in tape.edges)


def test_tensors_inside_a_call_do_not_take_the_name_of_its_result():
    tape = mirror(NESTED)
    assert not [v.name for v in tape.values if v.op is None and v.name == "nt"]
