"""Calls of torch's formulas as mathematics, and what is still code."""

import pytest

from gradscribe.playback.explain.mathematics import in_mathematics, is_code


@pytest.mark.parametrize(
    ("call", "sign"),
    [
        ("grad × self.sgn()", "grad × sign(self)"),
        ("self.pow(2) + 1", "self² + 1"),
        ("(a + b).pow(2)", "(a + b)²"),
        ("2.0 ÷ sqrt(M_PI) × exp(−(self.pow(2)))", "2 ÷ √(π) × exp(−(self²))"),
        ("x ÷ self.rsqrt()", "x ÷ (1 ÷ √(self))"),
        ("grad.bmm(mat2.transpose(1, 2))", "grad · mat2ᵀ"),
        ("grad.mm(a + b)", "grad · (a + b)"),
        ("grad.ger(vec)", "grad · vecᵀ"),
        ("zeros_like(self)", "0"),
        ("f(a, b).masked_fill(m, 0)", "(f(a, b), but 0 where m)"),
        (
            "where(self >= min, grad, scalar_tensor(0., grad.options()))",
            "grad where self ≥ min, elsewhere 0",
        ),
        ("grad × weight.toX", "grad × weight.toX"),
    ],
)
def test_calls_become_signs(call, sign):
    assert in_mathematics(call) == sign


@pytest.mark.parametrize(
    "text",
    ["a ? b : c", "std::get<0>(x)", "x.foo(1)", "foo_backward(grad)", "!adjoint", "(grad at"],
)
def test_code_is_recognised(text):
    assert is_code(text)


@pytest.mark.parametrize("text", ["grad × (1 − y²)", "−grad ÷ x.shape[0]", "grad where x > 0"])
def test_mathematics_is_no_code(text):
    assert not is_code(text)
