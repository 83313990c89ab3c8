"""The folder of session files: who holds one, who left one, and what becomes of a spoilt one."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gradscribe.app.document.state import Doc
from gradscribe.app.files import session_file
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.sessions import LOCK, PROGRAM_FORMAT, Sessions, is_same_work
from tests.app.homes import ahead

ROOT = Path(__file__).resolve().parents[3]
WORK = SessionData(Doc("x = 1", title="mine"), when=1.0)
LATER = replace(WORK, doc=Doc("x = 2", title="mine"), when=2.0)


def left_by_a_dead_window(sessions, *works):
    """A session file whose process has ended without a word."""
    program = (
        "import os, sys; from pathlib import Path\n"
        "from gradscribe.app.files.sessions import PROGRAM_FORMAT, Sessions\n"
        "from gradscribe.app.files import session_file\n"
        "slot = Sessions(Path(sys.argv[1]), PROGRAM_FORMAT).begin()\n"
        "for line in sys.argv[2:]: slot.save(session_file.decode(bytes.fromhex(line)))\n"
        "print(slot.path, flush=True)\n"
        "os._exit(9)\n"
    )
    lines = [session_file.encode(work).hex() for work in works]
    done = subprocess.run(
        [sys.executable, "-c", program, str(sessions.where), *lines],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 9, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path / "sessions", PROGRAM_FORMAT)


def names(sessions):
    return sorted(entry.name for entry in sessions.where.iterdir())


def test_a_window_that_lives_is_not_found(sessions):
    slot = sessions.begin()
    slot.save(WORK)
    assert Sessions(sessions.where, PROGRAM_FORMAT).found() == []
    slot.drop()
    assert names(sessions) == []


def test_what_a_dead_window_left_is_found_once(sessions):
    path = left_by_a_dead_window(sessions, WORK, LATER)
    (found,) = sessions.found()
    assert (found.slot.path, found.kept, found.trouble) == (path, LATER, "")
    assert Sessions(sessions.where, PROGRAM_FORMAT).found() == []
    found.slot.release()
    (again,) = sessions.found()
    assert again.kept == LATER
    again.slot.drop()
    assert names(sessions) == []


def with_number(lock, number):
    """Have a lock file name another process as the one that made it."""
    lines = lock.read_text().split("\n")
    lock.write_text("\n".join([str(number), *lines[1:]]))


def test_a_dead_window_of_our_own_number_is_found(sessions):
    """In a sandbox each window may have the number that the one before it had."""
    path = left_by_a_dead_window(sessions, WORK)
    with_number(path.with_name(f"{path.name}.lock"), os.getpid())
    (found,) = sessions.found()
    assert found.kept == WORK
    found.slot.drop()
    assert names(sessions) == []


def test_a_lock_of_our_number_that_is_held_stays_held(sessions):
    slot = sessions.begin()
    slot.save(WORK)
    before = names(sessions)
    for _ in range(3):
        assert Sessions(sessions.where, PROGRAM_FORMAT).found() == []
    assert names(sessions) == before
    slot.drop()
    assert names(sessions) == []


def test_a_lock_without_work_is_tidied_away_unless_its_window_lives(sessions):
    path = left_by_a_dead_window(sessions)
    assert names(sessions) == [f"{path.name}.lock"]
    slot = sessions.begin()
    assert Sessions(sessions.where, PROGRAM_FORMAT).found() == []
    assert names(sessions) == [f"{slot.path.name}.lock"]
    slot.release()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("what", ["a pipe", "a link", "far too long"])
def test_nobody_waits_for_what_stands_in_the_place_of_a_lock(sessions, tmp_path, what):
    path = left_by_a_dead_window(sessions, WORK)
    lock = path.with_name(path.name + LOCK)
    lock.unlink()
    (tmp_path / "other").write_text("1\n")
    if what == "a pipe":
        os.mkfifo(lock)
    elif what == "a link":
        lock.symlink_to(tmp_path / "other")
    else:
        with lock.open("wb") as file:
            file.truncate(40 << 30)
    assert [one.kept for one in sessions.found()] == [WORK]
    assert (tmp_path / "other").read_text() == "1\n"


def test_everything_is_found_the_latest_first(sessions):
    sessions.leave(WORK)
    sessions.leave(LATER)
    assert [one.kept for one in sessions.found()] == [LATER, WORK]


def test_a_clock_that_is_set_back_does_not_make_new_work_old(sessions):
    first = left_by_a_dead_window(sessions, replace(LATER, when=86_400.0))
    ahead(first)
    second = left_by_a_dead_window(sessions, WORK)
    third = left_by_a_dead_window(sessions, replace(LATER, when=0.5))
    assert [one.slot.path for one in sessions.found()] == [third, second, first]


def test_each_save_is_newer_than_what_another_window_has(sessions):
    one, other = sessions.begin(), sessions.begin()
    one.save(WORK)
    ahead(one.path)
    for slot in (other, one, other):
        slot.save(LATER)
        assert slot.order == max(one.order, other.order)
        assert one.order != other.order
    one.drop()
    other.drop()


def test_a_spoilt_file_gives_what_was_saved_before_it(sessions):
    path = left_by_a_dead_window(sessions, WORK, LATER)
    path.write_bytes(path.read_bytes()[:-9])
    (found,) = sessions.found()
    assert found.kept == WORK


def test_a_writer_that_died_between_two_names_loses_nothing(sessions):
    path = left_by_a_dead_window(sessions, WORK, LATER)
    path.unlink()
    path.with_name(f".{path.name}.1234.part").write_text("half")
    (found,) = sessions.found()
    assert found.kept == WORK
    found.slot.drop()
    assert names(sessions) == []


def test_a_spoilt_file_is_set_aside_and_told_of_once(sessions):
    path = left_by_a_dead_window(sessions, WORK)
    path.write_bytes(b"garbage")
    (found,) = sessions.found()
    assert found.kept is None
    assert f"{path}.bak" in found.trouble
    assert names(sessions) == [f"{path.name}.bak"]
    assert sessions.found() == []


def test_a_file_of_a_newer_version_stays_as_it_is(sessions):
    path = left_by_a_dead_window(sessions, WORK)
    data = b"gradscribe-session 99 what nobody knows yet\n"
    path.write_bytes(data)
    (found,) = sessions.found()
    assert found.kept is None
    assert "newer" in found.trouble
    assert path.read_bytes() == data
    assert names(sessions) == [path.name]


def test_nothing_is_kept_without_a_folder(tmp_path):
    nowhere = Sessions(None, PROGRAM_FORMAT)
    assert (nowhere.begin(), nowhere.found(), nowhere.lock("a")) == (None, [], None)
    nowhere.leave(WORK)
    (tmp_path / "file").write_text("")
    blocked = Sessions(tmp_path / "file" / "sessions", PROGRAM_FORMAT)
    assert (blocked.begin(), blocked.found(), blocked.lock("a")) == (None, [], None)


def test_a_save_that_fails_leaves_the_one_before(sessions, monkeypatch):
    slot = sessions.begin()
    slot.save(WORK)
    monkeypatch.setattr("gradscribe.app.files.atomic.os.fsync", refuse)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            slot.save(LATER)
        assert slot.load() == WORK
    monkeypatch.undo()
    slot.save(LATER)
    assert slot.load() == LATER
    slot.drop()


def refuse(*_):
    raise OSError(28, os.strerror(28))


def test_work_is_the_same_whenever_it_was_kept():
    assert is_same_work(WORK, replace(WORK, when=5.0))
    assert not is_same_work(WORK, LATER)


def spoil(path, dice):
    """Do to a file what disks and their owners do to files."""
    data = path.read_bytes()
    at, length = dice.randrange(len(data) + 1), dice.randrange(1, 64)
    match dice.randrange(7):
        case 0:
            path.write_bytes(data[:at])
        case 1:
            path.write_bytes(data[:at] + dice.randbytes(length) + data[at + length :])
        case 2:
            path.write_bytes(data[:at] + dice.randbytes(length) + data[at:])
        case 3:
            path.write_bytes(data[:at] + bytes(length) + data[at + length :])
        case 4:
            path.write_bytes(data + data)
        case 5:
            path.unlink()
            path.mkdir()
        case _:
            path.unlink()


def inject(tmp_path, count, seed):
    """Spoil the newest file, the one before, or both; what is read is right or it is said."""
    dice = random.Random(seed)
    for turn in range(count):
        sessions = Sessions(tmp_path / f"{seed}-{turn}", PROGRAM_FORMAT)
        slot = sessions.begin()
        slot.save(WORK)
        slot.save(LATER)
        slot.release()
        first, both = dice.random() < 0.7, dice.random() < 0.4
        if first or both:
            spoil(slot.path, dice)
        if both or not first:
            spoil(slot.before, dice)
        whole = {path: path.read_bytes() for path in (slot.path, slot.before) if path.is_file()}
        found = sessions.found()
        for one in found:
            assert one.kept in (WORK, LATER) or (one.kept is None and one.trouble)
            if not first and not both:
                assert one.kept == LATER
            elif first and not both:
                assert one.kept in (WORK, LATER)
        if not found:
            assert not whole
        held = [entry.read_bytes() for entry in sessions.where.iterdir() if entry.is_file()]
        assert all(data in held for data in whole.values())


def test_thirty_faults_in_the_files(tmp_path):
    inject(tmp_path, 30, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_three_hundred_faults_in_the_files(tmp_path, seed):
    inject(tmp_path, 30, seed)


def test_a_folder_that_was_tidied_away_is_made_anew(sessions):
    slot = sessions.begin()
    slot.save(WORK)
    for path in sessions.where.iterdir():
        path.unlink()
    sessions.where.rmdir()
    slot.save(LATER)
    assert slot.load() == LATER
    slot.drop()
