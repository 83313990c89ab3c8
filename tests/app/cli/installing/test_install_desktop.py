"""The entry in the desktop's menu and the kinds of files: written, read by the system, removed."""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.installing import install_desktop
from gradscribe.app.files import documents
from gradscribe.engine.protocol import tape_file, watch_file

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="freedesktop.org")
SPACE = "{http://www.freedesktop.org/standards/shared-mime-info}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the user's data folder, whose files no tool of this system reads."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(install_desktop, "TOOLS", ())
    return tmp_path / "data"


def run(capsys, *words):
    code = command_line.main(["install-desktop", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def entry(folder):
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str
    parser.read(folder / install_desktop.ENTRY)
    return parser["Desktop Entry"]


def test_what_is_installed_is_found_again_and_removed_whole(folder, capsys):
    (folder / "applications").mkdir(parents=True)
    (folder / "applications" / "other.desktop").write_text("another program's")
    for _ in range(2):
        code, out, _ = run(capsys)
        assert code == 0
        assert str(folder / install_desktop.ENTRY) in out
    types = ElementTree.parse(folder / install_desktop.TYPES).getroot()
    declared = {kind.get("type") for kind in types.iter(f"{SPACE}mime-type")}
    assert declared < {*filter(None, entry(folder)["MimeType"].split(";"))}
    pictures = [QImage(str(file)) for file in folder.rglob("apps/gradscribe.png")]
    assert sorted(picture.width() for picture in pictures) == sorted(install_desktop.SIZES)
    assert all(picture.pixelColor(picture.rect().center()).alpha() for picture in pictures)
    code, out, _ = run(capsys, "--uninstall")
    assert code == 0
    assert "gradscribe.desktop" in out
    left = [file.name for file in folder.rglob("*") if file.is_file()]
    assert left == ["other.desktop"]
    assert run(capsys, "--uninstall")[:2] == (0, f"Nothing to remove in {folder}\n")


def test_the_entry_starts_this_python(folder, capsys):
    run(capsys)
    words = shlex.split(entry(folder)["Exec"].replace("\\\\", "\\"))
    assert words == [sys.executable, "-P", "-m", "gradscribe", "%f"]


@pytest.mark.parametrize("path", ["/my env/bin/python", '/a"b`$x/100%/py\\thon', "/it's/python"])
def test_a_path_of_any_letters_is_quoted(path):
    quoted = install_desktop.quoted(path)
    assert quoted.startswith('"')
    # Undone in the order of the specification: of the text, of the quotes, of the fields.
    text = quoted.replace("\\\\", "\\")[1:-1]
    assert re.sub(r"\\(.)", r"\1", text).replace("%%", "%") == path


@pytest.mark.parametrize("path", ["/my env/bin/python", '/a"b`$x/100%/py\\thon'])
def test_a_path_of_any_letters_is_in_the_entry_as_it_was_quoted(path):
    lines = install_desktop.entry_text((path, "-m", "gradscribe")).splitlines()
    assert f"Exec={install_desktop.quoted(path)} -m gradscribe %f" in lines
    assert f"Exec={install_desktop.quoted(path)} -m gradscribe --new" in lines


def test_every_kind_of_file_has_its_suffix():
    types = ElementTree.parse(install_desktop.SOURCES / "gradscribe.xml").getroot()
    patterns = {glob.get("pattern") for glob in types.iter(f"{SPACE}glob")}
    own = {tape_file.SUFFIX, watch_file.SUFFIX, documents.SESSION_SUFFIX, ".setup.json"}
    assert patterns == {f"*{suffix}" for suffix in own}


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="AppStream is not installed")
def test_the_metadata_for_software_centres_is_valid():
    (file,) = install_desktop.SOURCES.glob("*.metainfo.xml")
    command = ["appstreamcli", "validate", "--no-net", "--explain", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    component = ElementTree.parse(file).getroot()
    assert component.findtext("launchable") == install_desktop.ENTRY.name
    assert component.findtext("id") == file.name.removesuffix(".metainfo.xml")
    types = {found.text for found in component.iter("mediatype")}
    entry = (install_desktop.SOURCES / "gradscribe.desktop").read_text("utf-8")
    assert types <= {*re.search("^MimeType=(.*)$", entry, re.MULTILINE)[1].split(";")}


def test_the_metadata_names_the_version_of_the_program():
    (file,) = install_desktop.SOURCES.glob("*.metainfo.xml")
    newest = next(ElementTree.parse(file).getroot().iter("release"))
    assert newest.get("version") == metadata.version("gradscribe")


def test_files_are_known_by_what_they_begin_with(folder, capsys):
    run(capsys)
    types = ElementTree.parse(folder / install_desktop.TYPES).getroot()
    begins = {
        kind.get("type"): match.get("value")
        for kind in types.iter(f"{SPACE}mime-type")
        for match in kind.iter(f"{SPACE}match")
    }
    fixture = Path(__file__).parents[3] / "engine" / "protocol" / "format_1.tape"
    start = fixture.read_bytes()[:40].decode("latin-1")
    assert start.startswith(begins["application/vnd.gradscribe.tape"])
    assert start.startswith(tape_file.MAGIC.decode())
    assert watch_file.MAGIC.decode().startswith(begins["application/vnd.gradscribe.watch"])


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    code, _, err = run(capsys)
    assert code == 2
    assert err.startswith(f"gradscribe: {tmp_path / 'file'}")
    assert err.count("\n") == 1


def test_a_data_folder_that_is_no_path_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert install_desktop.data_folder() == tmp_path / ".local" / "share"


def test_a_tool_that_fails_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(install_desktop, "TOOLS", (("update-mime-database", "mime"),))
    tool = tmp_path / "update-mime-database"
    tool.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, _ = run(capsys)
    assert code == 0
    assert "update-mime-database failed: broken" in out


def test_the_desktops_own_tools_accept_it(tmp_path, monkeypatch, capsys):
    """With those that are installed; without any, the files are still there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    code, out, _ = run(capsys)
    assert code == 0
    assert "failed" not in out
    if validator := shutil.which("desktop-file-validate"):
        done = subprocess.run(
            [validator, tmp_path / "data" / install_desktop.ENTRY], capture_output=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, b"")
    if shutil.which("update-mime-database"):
        globs = (tmp_path / "data" / "mime" / "globs2").read_text().splitlines()
        assert "50:application/vnd.gradscribe.tape:*.tape" in globs
