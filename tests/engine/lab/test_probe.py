"""The shape lab's lines: as the user's own, and held to the policy where they are not."""

import pytest

from engine import lab
from engine.wire import Probe


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
