"""Devices of a program's tensors, in the order of how much is computed on them."""

import pytest

from gradscribe.playback.explain.devices import devices_of

PROGRAMS = {
    "": (),
    "a = torch.ones(2)\n": ("cpu",),
    "a = torch.ones(2, device='meta')\n": ("meta",),
    "a = torch.ones(2)\nb = a.to('meta')\n": ("meta", "cpu"),
    "a = torch.ones(2)\nb = a * 2\nc = b + 1\nd = c.to('meta')\n": ("cpu", "meta"),
    "a = torch.ones(2)\nc = torch.ones(2)\nb = a.to('meta')\nd = b * 2\n": ("meta", "cpu"),
    "a = torch.ones(2, device='meta')\nb = a * 2\nc = torch.ones(2)\n": ("meta", "cpu"),
}


@pytest.mark.parametrize("source", PROGRAMS)
def test_the_device_with_most_results_is_first(recorded, source):
    assert devices_of(recorded(source)) == PROGRAMS[source]
