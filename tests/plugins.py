"""Packages with plug-ins, installed for a test."""

import os
import sys
import textwrap

import pytest

from gradscribe.engine import plugins


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package with entry points, by modules and declarations."""

    def add(points, modules, package="others"):
        home = tmp_path / package
        (home / package).mkdir(parents=True)
        (home / package / "__init__.py").write_text("")
        for name, text in modules.items():
            suffix = "" if "." in name else ".py"
            (home / package / f"{name}{suffix}").write_text(textwrap.dedent(text))
        info = home / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"[gradscribe.{group}]\n{line}\n" for group, line in points]
        (info / "entry_points.txt").write_text("".join(lines))
        monkeypatch.syspath_prepend(str(home))
        path = filter(None, (str(home), os.environ.get("PYTHONPATH", "")))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
        forget()

    yield add
    forget()


def forget():
    """Let the next look find what is installed now."""
    from gradscribe.engine.doctor import examine
    from gradscribe.playback.explain import rule

    plugins.points.cache_clear()
    plugins._broken.clear()
    examine.finding_kinds.cache_clear()
    examine._plugin_kinds.cache_clear()
    rule.rule_table.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "others"]:
        del sys.modules[name]
