"""Rules that are remembered wrongly differ from torch's, and are given only where they apply."""

import pytest
import torch

from gradscribe.engine.inspect.by_hand.wrong_rules import wrong_rules

X = torch.tensor([0.3, 0.8, 1.7])
OPS = {
    "pow": lambda x: x**3,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "reciprocal": torch.reciprocal,
    "relu": torch.relu,
}


@pytest.mark.parametrize("op", sorted(OPS))
def test_a_wrong_rule_is_wrong(op):
    x = X.clone().requires_grad_()
    y = OPS[op](x)
    (true,) = torch.autograd.grad(y.sum(), x)
    rules = list(wrong_rules(op, [X], y.detach(), 3.0 if op == "pow" else None))
    assert rules
    for kind, text, rule in rules:
        (wrong,) = rule((true,), (torch.ones(3),))
        assert kind == "rule"
        assert text
        assert not torch.allclose(wrong, true)


def test_an_op_without_such_rules_has_none():
    assert list(wrong_rules("add", [X, X], X, None)) == []
    assert list(wrong_rules("unheard_of", [None], None, None)) == []


def test_numbers_that_are_gone_give_no_rule():
    for _, _, rule in wrong_rules("log", [None], X, None):
        try:
            rule((X,), (X,))
        except ValueError:
            continue
