"""The shape lab's lines: as the user's own, and held to the policy where they are not."""

import numpy as np
import pytest

from gradscribe.engine.inspect import lab
from gradscribe.engine.inspect.lab import evaluator
from gradscribe.engine.protocol.messages import Probe


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.getcwd()",
        "a = torch.ones(2)\nopen('/etc/hostname').read()",
        "a = torch.ones(2)\na.__class__.__mro__[-1].__subclasses__()",
        "torch.load('x.pt')",
    ],
)
def test_lines_from_elsewhere_are_held_to_the_policy(source):
    probed = lab.probe(Probe(1, source, policy=True))
    assert probed.problem.type == "Refused"
    assert not probed.results


@pytest.mark.parametrize(
    "source",
    [
        "a = torch.ones(2, 3)\nb = torch.ones(3, 2)\na @ b",
        "x = np.arange(6).reshape(2, 3)\nt = torch.from_numpy(x)\nt.T",
        "import math\na = torch.full((2,), math.pi)\na[1:] * 2",
        "a, b = torch.ones(2), torch.ones(2)\ny = torch.stack([a, b])",
    ],
)
def test_harmless_lines_say_the_same_under_the_policy(source):
    guarded, free = (lab.probe(Probe(1, source, policy=p)) for p in (True, False))
    assert guarded.problem is None
    assert guarded.links == free.links
    assert [one.snapshot for one in guarded.results] == [one.snapshot for one in free.results]


@pytest.mark.parametrize(
    "source",
    ["x = np.arange(6.0)\nx[::-1]", "x = np.arange(6.0)[::-1]\nx * 2", "x = np.eye(3)[::-1]\nx.T"],
)
def test_an_array_that_goes_backwards_is_shown_as_a_copy(source):
    probed = lab.probe(Probe(1, source))
    names = {"np": np}
    exec(source.splitlines()[0], names)
    expected = np.ascontiguousarray(eval(source.splitlines()[-1], names))
    np.testing.assert_array_equal(probed.results[0].snapshot.array(), expected)
    assert "copy" in probed.note
    assert probed.links


def test_an_expression_that_takes_long_is_shown_without_its_links(monkeypatch):
    monkeypatch.setattr(evaluator, "TIME_LIMIT_S", -1.0)
    probed = lab.probe(Probe(1, "a = torch.ones(2, 3)\na.sum()"))
    assert probed.problem is None
    assert probed.results[0].snapshot.array() == 6
    assert not probed.links
    assert not probed.jacobians
    assert "could not be determined" in probed.note


def test_each_evaluation_begins_with_the_same_chance():
    probed = lab.probe(Probe(1, "a = torch.ones(4)\na + torch.rand(4)"))
    (links,) = probed.links
    assert np.frombuffer(links.to, "<i4").tolist() == [0, 1, 2, 3]
    assert links.to == links.source
