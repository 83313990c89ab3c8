import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import explain
from gradscribe.playback.explain.ops.complex import RULES
from gradscribe.playback.explain.rule import rule_table


def test_every_rule_is_in_the_table():
    assert {name for rule in RULES for name in rule.names.split()} <= set(rule_table())


Z = torch.tensor([1 + 2j, 3 - 1j])


@pytest.mark.parametrize(
    ("call", "share", "by_hand"),
    [
        ("z.abs()", "× z ÷ y", Z / Z.abs()),
        ("z.real", "+ 0i", torch.ones(2) + 0j),
        ("z.imag", "0 + ", torch.ones(2) * 1j),
        ("z.angle()", "i·z ÷ |z|²", 1j * Z / Z.abs() ** 2),
        ("(z * (2 - 1j)).real", "conj((2-1j))", torch.full((2,), 2 + 1j)),
    ],
)
def test_the_share_is_what_torch_sends(call, share, by_hand):
    tape = record(
        f"z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)\ny = {call}\ny.sum().backward()"
    )
    rows = explain(tape, op=0, position=len(tape.events)).rows
    text = next(row.text for row in rows if row.label.endswith("/∂z"))
    assert share.replace("((", "(").replace("))", ")") in text
    sent = tape.snapshots[tape.leaves[0].grad].array()
    torch.testing.assert_close(torch.tensor(sent), by_hand.to(torch.complex64))
