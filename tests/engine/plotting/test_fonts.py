"""The list of fonts of a fresh machine, as a confined engine meets it."""

import pytest

from tests.engine.driver import Engine

pytestmark = pytest.mark.e2e

PLOT = """
import logging, os
import matplotlib.pyplot as plt
import matplotlib.font_manager as fonts
plt.plot([1, 2])
plt.title("fonts")
print(len(fonts.fontManager.ttflist))
"""


def test_a_confined_engine_plots_on_a_fresh_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    engine = Engine()
    try:
        assert "files" in engine.next().kept
        first, second = engine.run(PLOT), engine.run(PLOT)
    finally:
        engine.close()
    (found,) = tmp_path.glob("gradscribe/matplotlib-*/*")
    assert found.name.startswith("fontlist-")
    assert (first.error, first.stderr) == (second.error, second.stderr) == (None, "")
    assert first.stdout == second.stdout
    assert len(first.figures) == 1


def test_the_next_engine_finds_the_list_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    times = []
    for _ in range(2):
        engine = Engine()
        try:
            engine.next()
            assert engine.run(PLOT).error is None
        finally:
            engine.close()
        (found,) = tmp_path.glob("gradscribe/matplotlib-*/fontlist-*")
        times.append(found.stat().st_mtime_ns)
    assert times[0] == times[1]
