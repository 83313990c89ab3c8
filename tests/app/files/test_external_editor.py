"""The user's editor: found, told the line, refused with a reason."""

import os
import stat
import sys

import pytest

from gradscribe.app.files import external_editor
from gradscribe.app.files.documents import Refused

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake editors are scripts")


@pytest.fixture
def editors(tmp_path, monkeypatch):
    """Return a function that installs a fake editor, which writes its arguments to a file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def install(name):
        program = folder / name
        out = tmp_path / f"{name}.out"
        program.write_text(
            f"#!{sys.executable}\nimport sys, os\n"
            f"open({str(out) + '.part'!r}, 'w').write('\\n'.join(sys.argv[1:]))\n"
            f"os.rename({str(out) + '.part'!r}, {str(out)!r})\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return out

    return install


def arguments(out, qtbot):
    qtbot.waitUntil(out.exists, timeout=60_000)
    return out.read_text().split("\n")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("code", ["--goto", "{path}:7"]),
        ("pycharm", ["--line", "7", "{path}"]),
        ("gvim", ["+7", "{path}"]),
    ],
)
def test_an_installed_editor_opens_the_line(editors, qtbot, tmp_path, program, expected):
    out = editors(program)
    path = tmp_path / "ein {line} $HOME.py"
    title = external_editor.open_line("", path, 7)
    assert title == next(e.title for e in external_editor.KNOWN if e.program == program)
    assert arguments(out, qtbot) == [word.replace("{path}", str(path)) for word in expected]


def test_the_users_command_comes_first(editors, qtbot, tmp_path):
    editors("code")
    out = editors("mine")
    assert external_editor.open_line("mine '-at {line}' {file}", tmp_path / "a b.py", 3) == "mine"
    assert arguments(out, qtbot) == ["-at 3", str(tmp_path / "a b.py")]


def test_without_an_editor_there_is_no_name(editors, tmp_path):
    assert external_editor.installed() == ()
    assert external_editor.open_line("", tmp_path / "a.py", 1) == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "missing"),
        ("   ", "missing"),
        ("code", "needs {file}"),
        ("{file}", "needs {file}"),
        ("code 'x {file}", "no command"),
    ],
)
def test_what_is_no_command_is_refused(command, words):
    with pytest.raises(Refused, match=words.replace("{", r"\{")):
        external_editor.parse_command(command)


def test_an_editor_that_is_not_installed_is_named(editors, tmp_path):
    with pytest.raises(Refused, match="nosuch is not installed"):
        external_editor.open_line("nosuch {file}", tmp_path / "a.py", 1)


def test_an_editor_that_cannot_start_is_refused(editors, tmp_path):
    editors("code")
    program = tmp_path / "bin" / "code"
    program.write_bytes(b"\x7fELF nonsense")
    if os.access(program, os.X_OK):
        with pytest.raises(Refused, match="cannot be started"):
            external_editor.open_line("", tmp_path / "a.py", 1)
