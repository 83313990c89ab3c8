"""Gradients by hand are compared with what the backward pass computed."""

import pytest
import torch

from gradscribe.engine.inspect.by_hand import hand_check
from gradscribe.engine.protocol.messages import HandCheck, HandName
from gradscribe.engine.run import run

PRODUCT = (
    "x = param(2.0)\nw = param(3.0)\nt = 5.0\ny = w * x\nloss = (y - t) ** 2\nloss.backward()\n"
)
LAYER = """
x = torch.tensor([[1., 2., 3.], [4., 5., 6.]])
W = param([[.1, .2], [.3, -.4], [.5, .6]])
b = param([0.1, 0.2])
def layer(x):
    h = torch.tanh(x @ W + b)
    return h * 1.0
y = layer(x)
loss = (y ** 2).mean()
loss.backward()
"""


def check(source, code, value="", number=0, given=(), policy=False):
    tape = run.execute(run.Run(0, source, policy=policy))
    assert tape.error is None or tape.passes
    ids = {}
    for v in tape.values:
        ids.setdefault(v.name, v.id)
    ids.pop("", None)
    names = tuple(HandName(name, at, name in given) for name, at in ids.items())
    return hand_check(HandCheck(0, number, code, names, ids[value] if value else None))


def verdict(*asked, **more):
    answer = check(*asked, **more)
    assert answer.problem is None
    (row,) = answer.rows
    return row.verdict


@pytest.mark.parametrize("typed", ["4", "4.0", "2 * (w * x - t) * x", "[4]", "4.01", "2*(y - t)*x"])
def test_a_right_gradient_is_right_as_a_number_and_as_an_expression(typed):
    # ∂(wx − t)²/∂w = 2(wx − t)·x = 2·1·2
    assert verdict(PRODUCT, typed, "w") in ("equal", "close")


@pytest.mark.parametrize("typed", ["5", "3", "4.1", "-4", "2 * (w * x - t)"])
def test_a_wrong_gradient_differs(typed):
    assert verdict(PRODUCT, typed, "w") == "differs"


def test_whole_numbers_are_not_rounded():
    source = "w = param(1000.0)\n(w * w).backward()"
    assert verdict(source, "2000", "w") == "equal"
    assert verdict(source, "2001", "w") == "differs"


def test_names_of_functions_are_there_and_tensors_are_copies():
    dh = "2 * y / y.numel()"
    assert verdict(LAYER, f"({dh} * (1 - h ** 2)).sum(0)", "b") == "close"
    assert verdict(LAYER, f"x.T @ ({dh} * (1 - h ** 2))", "W") == "close"
    assert verdict(LAYER, "W.requires_grad * 0 + y.requires_grad * 0", "b") == "differs"


def test_code_cannot_change_the_program():
    code = "W.zero_()\nb.zero_()\nx.zero_()\ndb = b"
    assert [row.verdict for row in check(LAYER, code).rows] == ["differs"]
    assert verdict(LAYER, "x.T @ (2 * y / 4 * (1 - h ** 2))", "W") == "close"


def test_gradients_that_are_given_may_be_used_and_the_asked_one_may_not():
    code = "(dh * (1 - h ** 2)).sum(0)"
    assert verdict(LAYER, code, "b", given=("h",)) in ("equal", "close")
    assert check(LAYER, "db", "b", given=("b", "h")).problem.type == "NameError"


def test_backward_code_is_compared_row_by_row():
    code = "dy = 2 * y / 4\ndh = dy\ndz = dh * (1 - h**2)\ndW = (x.T @ dz).T\ndb = dz.sum(0) * 2\n"
    rows = {row.name: row for row in check(LAYER, code).rows}
    assert rows["y"].verdict == "equal"
    assert rows["z"].verdict == "unnamed"
    assert (rows["W"].own_shape, rows["W"].true_shape) == ((2, 3), (3, 2))
    names = run.initial_names(run.Run(0, ""))
    exec(LAYER, names)
    assert rows["b"].verdict == "differs"
    assert rows["b"].at == (0,)
    assert rows["b"].true == names["b"].grad[0].item()
    assert rows["b"].own == pytest.approx(2 * names["b"].grad[0].item())
    assert (rows["b"].differ, rows["b"].entries) == (2, 2)


def test_equal_means_equal_to_the_bit():
    source = "x = param([0.1, 0.2, 0.3])\n(x * 3.0).sum().backward()"
    assert verdict(source, "dx = torch.full((3,), 3.0)") == "equal"
    answer = check(source, "dx = torch.full((3,), 3.0)\ndx[1] = torch.nextafter(dx[1], dx[2] + 1)")
    assert answer.rows[0].verdict == "close"
    assert (answer.rows[0].at, answer.rows[0].differ) == ((1,), 1)
    assert answer.rows[0].largest == torch.finfo(torch.float32).eps * 2


def test_another_dtype_is_not_equal_to_the_bit():
    answer = check(
        "x = param([1.0])\n(x * 3.0).sum().backward()", "dx = torch.tensor([3.0]).double()"
    )
    assert answer.rows[0].verdict == "close"
    assert answer.rows[0].dtypes == ("float64", "float32")


def test_the_gradient_is_that_of_the_pass_and_not_the_accumulated_one():
    source = "w = param(2.0)\n(w * 3).backward()\n(w * w).backward()"
    assert verdict(source, "4", "w", number=1) == "equal"
    answer = check(source, "7", "w", number=1)
    assert [slip.kind for slip in answer.slips] == ["accumulated"]


def test_values_are_those_at_the_pass():
    source = (
        "w = param(2.0)\nopt = optim.SGD([w], lr=0.5)\nloss = w ** 2\nloss.backward()\nopt.step()\n"
    )
    assert verdict(source, "2 * w", "w") == "equal"  # before the step w is 2


def test_a_gradient_that_autograd_grad_returns_is_compared_too():
    source = "x = param(3.0)\ny = x ** 3\n(g,) = torch.autograd.grad(y, x)"
    assert verdict(source, "3 * x ** 2", "x") == "equal"


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("2 *", "invalid syntax"),
        ("w = 4", "one expression"),
        ("4; 5", "one expression"),
        ("", "one expression"),
        ("1 / 0", "division by zero"),
        ("foo", "foo"),
        ("'4'", "This is a str"),
        ("None", "This is None"),
        ("[1, [2]]", "no tensor"),
        ("print", "builtin_function_or_method"),
        ("10 ** 10 ** 3 * [1]", ""),
        ("exit()", ""),
    ],
)
def test_what_is_no_gradient_has_a_problem(code, part):
    answer = check(PRODUCT, code, "w")
    assert answer.problem is not None
    assert part in answer.problem.message


def test_code_without_a_gradient_says_what_to_write():
    assert "No gradient is assigned" in check(PRODUCT, "a = 1").problem.message


def test_endless_code_is_ended(monkeypatch):
    monkeypatch.setattr("gradscribe.engine.inspect.by_hand.compare.TIMEOUT_S", 0.2)
    answer = check(PRODUCT, "while True:\n    pass")
    assert answer.problem is not None
    assert answer.rows == ()


def test_the_policy_of_the_program_applies_to_the_code():
    answer = check(PRODUCT, "__import__('os').getcwd()", "w", policy=True)
    assert answer.problem is not None
    assert verdict(PRODUCT, "2 * (w * x - t) * x", "w", policy=True) == "equal"


def test_a_later_run_makes_a_check_void():
    run.execute(run.Run(7, PRODUCT))
    assert hand_check(HandCheck(3, 0, "1", (), 1)).problem.message.startswith("The program ran")


@pytest.mark.parametrize(("number", "value"), [(5, 1), (-1, 1), (0, 999_999)])
def test_a_pass_or_tensor_that_is_not_there_is_a_problem(number, value):
    run.execute(run.Run(0, PRODUCT))
    assert hand_check(HandCheck(0, number, "1", (), value)).problem is not None


def test_nan_equals_nan():
    assert verdict("x = param(0.0)\n(torch.sqrt(x) * 0).backward()", "float('nan')", "x") == "equal"
