"""Wholly or not at all: permissions, links, full disks, folders that take nothing."""

import errno
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.files import atomic

ROOT = Path(__file__).resolve().parents[3]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_permissions_stay(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(0o750)
    atomic.write(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert names(tmp_path) == ["a.py"]


def test_a_new_file_gets_the_permissions_every_new_file_gets(tmp_path):
    atomic.write(tmp_path / "a", b"")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a.py"
    target.write_text("old")
    link = tmp_path / "link.py"
    link.symlink_to(target)
    atomic.write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path / "real") == ["a.py"]


def test_a_second_name_still_names_the_same_file(tmp_path):
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("old and longer")
    os.link(first, second)
    atomic.write(first, b"new")
    assert second.read_bytes() == b"new"
    assert first.samefile(second)


def test_a_read_only_file_is_left_alone(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        atomic.write(path, b"new")
    assert atomic.reason(caught.value) == "you may not write there"
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.py"]


def test_a_device_is_written_to_and_not_replaced():
    atomic.write(Path(os.devnull), b"new")
    assert not stat.S_ISREG(Path(os.devnull).stat().st_mode)


def test_a_folder_that_takes_no_new_file_lets_the_old_one_be_written(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text("old and longer")
    real = os.open

    def grudging(name, flags, *mode):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "no")
        return real(name, flags, *mode)

    monkeypatch.setattr(atomic.os, "open", grudging)
    atomic.write(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_folder_that_is_gone_is_said(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        atomic.write(tmp_path / "gone" / "a", b"x")
    assert atomic.reason(caught.value) == "its folder does not exist"


def test_a_name_of_the_longest_kind_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 127)
    atomic.write(path, b"x")
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_whatever_fails_the_file_is_as_it_was(tmp_path, monkeypatch, code, step):
    path = tmp_path / "a.py"
    path.write_text("old")

    def fail(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(*((atomic.os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match=os.strerror(code)) as caught:
        atomic.write(path, b"new")
    assert atomic.reason(caught.value) != os.strerror(code)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.py"]


@pytest.mark.parametrize("names_of_file", [1, 2])
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, names_of_file):
    path = tmp_path / "a.py"
    old = b"old" * 1000
    path.write_bytes(old)
    if names_of_file == 2:
        os.link(path, tmp_path / "b.py")
    program = (
        "import resource, sys; from pathlib import Path; from gradscribe.app.files import atomic\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: atomic.write(Path(sys.argv[1]), b'new' * 10000)\n"
        "except OSError as error: print(atomic.reason(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "the file is too big for this disk\n"
    assert path.read_bytes() == old
    assert len(names(tmp_path)) == names_of_file
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_what_is_set_aside_never_covers_what_was_set_aside_before(tmp_path):
    for text in ("one", "two", "three"):
        path = tmp_path / "a.session"
        path.write_text(text)
        atomic.rename_to_backup(path)
    assert names(tmp_path) == ["a.session.2.bak", "a.session.3.bak", "a.session.bak"]
    assert (tmp_path / "a.session.2.bak").read_text() == "two"


def test_what_a_killed_writer_left_is_in_nobodys_way(tmp_path):
    (tmp_path / f".a.py.{os.getpid()}.part").write_text("half")
    atomic.write(tmp_path / "a.py", b"new")
    assert names(tmp_path) == ["a.py"]


def test_what_another_killed_writer_left_goes_with_the_next_writing(tmp_path):
    old, young, other = (
        tmp_path / name for name in (".a.py.1.part", ".a.py.2.part", ".b.py.1.part")
    )
    for one in (old, young, other):
        one.write_text("half")
    kept = tmp_path / "a.py.backup"
    kept.write_text("mine")
    for one in (old, other, kept):
        os.utime(one, (1, 1))
    atomic.write(tmp_path / "a.py", b"whole")
    # One may still be written by another window; the others belong to other files.
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.py", "a.py.backup", ".a.py.2.part", ".b.py.1.part"}


def test_a_folder_that_cannot_be_listed_has_nothing_swept(tmp_path):
    atomic.remove_partial(tmp_path / "nowhere", ".*")
    (tmp_path / "folder").mkdir()
    os.utime(tmp_path / "folder", (1, 1))
    atomic.remove_partial(tmp_path, ".*")
    assert (tmp_path / "folder").is_dir()
