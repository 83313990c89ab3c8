import pytest

from gradscribe.playback.explain.ops.shapes import RULES
from gradscribe.playback.explain.rule import rule_table

CALLS = {
    "view": "a .view(1)", "reshape": "a .reshape(1, 1)", "flatten": "a .flatten()",
    "unsqueeze": "a .unsqueeze(0)", "squeeze": "a .squeeze()", "clone": "a .clone()",
    "contiguous": "a .contiguous().clone()",
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_only_moves_numbers_has_slope_one(call, agrees):
    assert agrees(f"( {call} ).sum()")


def test_a_name_stands_in_one_rule_only():
    names = [name for rule in RULES for name in rule.names.split()]
    assert len(names) == len(set(names))
    assert set(names) <= set(rule_table())
