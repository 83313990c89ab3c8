"""PyTorch in an environment of its own: installed, interrupted, repaired, removed."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from gradscribe.app.link import own_engine, torch_install
from gradscribe.app.link.torch_install import InstallFailed, InstallPlan
from tests.environments import make_wheel, make_wheels

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="paths of environments on Unix"),
]
Disk = namedtuple("Disk", "total used free")


@pytest.fixture(autouse=True)
def data(monkeypatch, tmp_path):
    """The user's data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def plan(tmp_path, wheels):
    return InstallPlan(str(tmp_path / "disk"), wheels=str(wheels))


def ignore(_phase, _megabytes):
    """Report to nobody."""


def interrupt_at(phase):
    def report(reported, _megabytes):
        if reported == phase:
            raise KeyboardInterrupt

    return report


def modules(folder):
    """Return the files of the module torch in an environment."""
    return list((folder / "env").glob("lib/python3*/site-packages/torch/__init__.py"))


def test_programs_need_what_this_package_declares():
    names = [line.partition(">")[0] for line in torch_install.packages()]
    assert sorted(names) == ["matplotlib", "msgspec", "numpy", "pandas", "torch"]


def test_what_is_installed_runs_programs_from_then_on(plan, monkeypatch):
    phases = []
    engine = torch_install.install(plan, lambda phase, _: phases.append(phase))
    assert engine == own_engine.read()
    assert engine.python.torch == "2.9.0"
    assert Path(engine.python.path).is_relative_to(plan.folder)
    assert list(dict.fromkeys(phases))[-1] == "Checking"
    assert torch_install.half_made() is None
    assert not (plan.folder / torch_install.CACHE).exists()
    monkeypatch.setattr(own_engine, "has_torch", lambda: False)
    assert own_engine.resolve(None) == engine.python


def test_a_folder_with_files_of_the_users_is_left_alone(plan):
    plan.folder.mkdir(parents=True)
    (plan.folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InstallFailed, match="Gradscribe did not make it"):
        torch_install.install(plan, ignore)
    with pytest.raises(InstallFailed, match="not made by Gradscribe"):
        torch_install.remove(plan.folder)
    assert [path.name for path in plan.folder.iterdir()] == ["thesis.tex"]


def test_a_disk_without_room_is_named_before_anything_is_written(plan, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**9, 8 * 10**8, 2 << 20))
    with pytest.raises(InstallFailed, match=r"needs 950 MB.*has 2 MB left: choose another folder"):
        torch_install.install(plan, ignore)
    assert not plan.folder.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path, wheels):
    (tmp_path / "file").write_text("")
    with pytest.raises(InstallFailed, match="cannot be made: Not a directory"):
        torch_install.install(InstallPlan(str(tmp_path / "file"), wheels=str(wheels)), ignore)


def test_wheels_without_torch_leave_nothing_behind(plan, tmp_path):
    lacking = tmp_path / "lacking"
    make_wheel(lacking, "numpy", "9.0")
    with pytest.raises(InstallFailed, match="was not found in the provided package locations"):
        torch_install.install(InstallPlan(plan.parent, wheels=str(lacking)), ignore)
    assert not plan.folder.exists()
    assert own_engine.read() is None
    assert torch_install.half_made() is None


def test_without_a_network_the_reason_says_so(plan, monkeypatch):
    # Port 9 of this machine, at which nothing listens.
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(InstallFailed, match="is there a network"):
        torch_install.install(InstallPlan(plan.parent), ignore)
    assert not plan.folder.exists()


def test_a_torch_that_does_not_start_is_removed_again(plan, tmp_path):
    broken = make_wheels(tmp_path / "broken", "raise ImportError('libtorch.so is missing')")
    with pytest.raises(InstallFailed, match=r"does not start: ImportError: libtorch.so is missing"):
        torch_install.install(InstallPlan(plan.parent, wheels=str(broken)), ignore)
    assert not plan.folder.exists()
    assert own_engine.read() is None


@pytest.mark.parametrize("phase", ["Making an environment", "Installing PyTorch", "Checking"])
def test_an_interrupted_installation_is_found_again_and_continued(plan, phase, monkeypatch):
    monkeypatch.setattr(torch_install, "REPORT_S", 0.001)
    with pytest.raises(KeyboardInterrupt):
        torch_install.install(plan, interrupt_at(phase))
    assert torch_install.half_made() == plan.folder
    assert own_engine.read() is None
    engine = torch_install.install(plan, ignore)
    assert engine.python.torch == "2.9.0"
    assert torch_install.half_made() is None


def test_an_interrupted_installation_can_be_removed(plan):
    with pytest.raises(KeyboardInterrupt):
        torch_install.install(plan, interrupt_at("Checking"))
    torch_install.remove(plan.folder)
    assert not plan.folder.exists()
    assert torch_install.half_made() is None


def test_the_end_of_an_installation_ends_uv(plan, tmp_path, monkeypatch):
    started, folder = tmp_path / "pid", plan.folder
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho $$ > "{started}"\nexec sleep 600\n')
    uv.chmod(0o755)
    monkeypatch.setattr(torch_install, "uv_program", lambda: str(uv))
    monkeypatch.setattr(torch_install, "REPORT_S", 0.01)

    def report(_phase, _megabytes):
        if started.exists() and started.read_text().strip():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        torch_install.install(plan, report)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert torch_install.half_made() == folder


def test_an_environment_whose_python_has_moved_is_repaired_and_keeps_its_packages(plan):
    torch_install.install(plan, ignore)
    (module,) = modules(plan.folder)
    before = module.stat().st_mtime_ns, module.stat().st_ino
    python = plan.folder / "env" / "bin" / "python"
    python.unlink()
    python.symlink_to("/moved/away/python3")
    engine = torch_install.install(plan, ignore)
    assert subprocess.run([engine.python.path, "-c", "import torch"], check=False).returncode == 0
    (module,) = modules(plan.folder)
    assert (module.stat().st_mtime_ns, module.stat().st_ino) == before


def test_an_environment_of_another_version_of_python_is_made_anew(plan):
    torch_install.install(plan, ignore)
    settings = plan.folder / "env" / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace("version_info = 3.", "version_info = 2."))
    (plan.folder / "env" / "left-over").write_text("")
    torch_install.install(plan, ignore)
    assert not (plan.folder / "env" / "left-over").exists()
    assert len(modules(plan.folder)) == 1


def test_a_repair_that_fails_removes_nothing(plan, tmp_path):
    torch_install.install(plan, ignore)
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    (plan.folder / "env" / "pyvenv.cfg").unlink()
    with pytest.raises(InstallFailed):
        torch_install.install(InstallPlan(plan.parent, wheels=str(lacking)), ignore)
    assert (plan.folder / torch_install.MARKER).exists()


def test_a_removed_environment_runs_no_programs(plan):
    torch_install.install(plan, ignore)
    torch_install.remove(plan.folder)
    assert not plan.folder.exists()
    assert own_engine.read() is None


def test_links_out_of_the_folder_are_not_followed_when_it_is_removed(plan, tmp_path):
    torch_install.install(plan, ignore)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("")
    (plan.folder / "link").symlink_to(precious)
    torch_install.remove(plan.folder)
    assert (precious / "file").exists()


def test_without_uv_the_way_out_is_named(monkeypatch, plan):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InstallFailed, match="uv, which installs PyTorch, is missing"):
        torch_install.install(plan, ignore)
    assert not plan.folder.exists()
