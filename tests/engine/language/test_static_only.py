"""jedi reads and nothing else: no compiled module of a stranger, no pickle."""

import sys

import parso.cache
from jedi.inference.compiled import access

from gradscribe.engine.language.analysis import ProgramAnalysis
from gradscribe.engine.protocol.language import Complete


def asked(source):
    line = source.count("\n") + 1
    column = len(source.rpartition("\n")[2])
    found = ProgramAnalysis().complete(Complete(1, source, line, column))
    return {one.name for one in found.names}


def test_a_compiled_module_that_a_program_points_to_is_not_imported(tmp_path, monkeypatch):
    # Any file will do as a compiled module: an import would fail to load it and say so.
    for name in ("evil.so", "evil.cpython-311-x86_64-linux-gnu.so", "evil.pyd"):
        (tmp_path / name).write_bytes(b"no library")
    imported = []
    monkeypatch.setattr("importlib.import_module", lambda name: imported.append(name))
    source = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport evil\nevil."
    assert asked(source) == set()
    assert "evil" not in imported
    assert "evil" not in sys.modules


def test_torch_is_read_and_not_imported():
    import subprocess

    script = (
        "import sys\n"
        "from gradscribe.engine.language.analysis import ProgramAnalysis\n"
        "from gradscribe.engine.protocol.language import Complete\n"
        "found = ProgramAnalysis().complete(Complete(1, 'torch.randn(1).', 1, 15))\n"
        "assert any(one.name == 'sum' for one in found.names)\n"
        "print('torch' in sys.modules, 'numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.split() == ["False", "False"]


def test_compiled_modules_of_python_are_known():
    assert {"sin", "cos"} <= asked("import math\nmath.")
    assert access.load_module(None, "torch._C", sys_path=[]) is None


def test_no_tree_is_written_to_disk_or_read_from_it(tmp_path, monkeypatch):
    monkeypatch.setattr(parso.cache, "_default_cache_path", tmp_path)
    monkeypatch.setattr("jedi.settings.cache_directory", str(tmp_path))
    assert "getcwd" in asked("import os\nos.")
    assert list(tmp_path.iterdir()) == []
