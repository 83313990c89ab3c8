"""Hands that never rest: nothing grows, nothing dies. Seconds always, minutes in `make torture`."""

import os

import pytest

from tests.torture import soak

pytestmark = [pytest.mark.e2e, pytest.mark.qt_log_ignore("This plugin does not support")]
"""Without a screen Qt can neither raise a menu nor give it the keyboard, and says so."""

SECONDS = 6
MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))


def check(seconds, seed, home):
    found = soak.soak(seconds, seed, home)
    print(soak.told(found))  # noqa: T201 - the figures are what one wants to see
    assert found.actions > 10
    assert not found.faults
    assert not soak.grown(found)
    return found


def test_some_seconds_of_everything(qtbot, tmp_path):
    check(SECONDS, 0, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_half_an_hour_of_everything(qtbot, tmp_path):
    check(60 * MINUTES, 1, tmp_path)
