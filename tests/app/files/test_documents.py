"""Programs in and out of files: never a half file, never a traceback."""

import os
import random
import types
from pathlib import Path

import pytest

from gradscribe.app.files import documents
from gradscribe.app.files.documents import (
    MAX_PROGRAM_BYTES,
    Draft,
    Drafts,
    Refused,
    differs,
    read,
    write,
)
from gradscribe.app.training.saving import session_file


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.py"
    write(path, "x = 'ä'\n")
    assert read(path) == "x = 'ä'\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.py"]


def test_line_ends_of_other_systems_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read(path) == "a\nb\nc\n"


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\0b", b"x" * (MAX_PROGRAM_BYTES + 1)])
def test_what_is_no_program_is_refused(tmp_path, data):
    path = tmp_path / "a.py"
    path.write_bytes(data)
    with pytest.raises(Refused, match=r"a\.py"):
        read(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(Refused, match="cannot be read"):
        read(tmp_path / "none.py")
    with pytest.raises(Refused, match="folder"):
        read(tmp_path)


def test_a_file_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(Refused, match="cannot be written"):
        write(tmp_path / "no" / "a.py", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_found_by_its_path(tmp_path):
    drafts = Drafts(tmp_path / "drafts")
    drafts.keep(Draft("a", path="", title="Untitled"))
    drafts.keep(Draft("b", path="/x/y.py", title="y.py", saved="c"))
    assert drafts.find("").source == "a"
    assert drafts.find("/x/y.py").saved == "c"
    drafts.drop("")
    assert drafts.find("") is None
    assert drafts.find("/x/y.py") is not None


def test_no_draft_and_a_spoilt_draft_are_none(tmp_path):
    drafts = Drafts(tmp_path)
    assert drafts.find("") is None
    drafts.drop("")
    drafts.keep(Draft("a"))
    next(tmp_path.iterdir()).write_text("{")
    with pytest.raises(Refused, match=r"untitled\.json\.bak"):
        drafts.find("")
    assert (tmp_path / "untitled.json.bak").read_text() == "{"
    assert drafts.find("") is None


def test_without_a_folder_nothing_is_kept():
    drafts = Drafts(None)
    drafts.keep(Draft("a"))
    drafts.drop("")
    assert drafts.find("") is None


def test_a_draft_that_cannot_be_kept_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot be stored"):
        Drafts(tmp_path / "file" / "drafts").keep(Draft("a"))


def test_a_draft_of_an_earlier_version_is_read(tmp_path):
    (tmp_path / "untitled.json").write_text('{"source": "a", "saved": "b"}')
    assert Drafts(tmp_path).find("") == Draft("a", saved="b")


def test_a_draft_of_a_newer_version_stays(tmp_path):
    data = b"gradscribe-session 2 what ever\n"
    (tmp_path / "untitled.json").write_bytes(data)
    with pytest.raises(Refused, match="newer"):
        Drafts(tmp_path).find("")
    assert (tmp_path / "untitled.json").read_bytes() == data


def test_a_draft_with_any_byte_changed_is_not_believed(tmp_path):
    drafts = Drafts(tmp_path)
    drafts.keep(Draft("x = param(1.0)"))
    file = tmp_path / "untitled.json"
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(Refused):
            drafts.find("")
        for left in tmp_path.glob("*.bak"):
            left.unlink()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark_stay(tmp_path, end, mark):
    path = tmp_path / "a.py"
    data = mark + end.join(("a = 1", "b = 2", "s = 'ä\f'", "")).encode()
    path.write_bytes(data)
    text = read(path)
    write(path, text)
    assert path.read_bytes() == data
    write(path, text.replace("b = 2", "b = 3\nc = 4"))
    assert path.read_bytes() == data.replace(b"b = 2", b"b = 3" + end.encode() + b"c = 4")
    other = tmp_path / "b.py"
    write(other, text, like=path)
    assert other.read_bytes() == data


def test_mixed_line_ends_stay_where_nothing_changed(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"a\nb\r\nc\r\nd\re\r\n")
    text = read(path)
    write(path, text)
    assert path.read_bytes() == b"a\nb\r\nc\r\nd\re\r\n"
    write(path, text.replace("c\n", "x\ny\n"))
    assert path.read_bytes() == b"a\nb\r\nx\r\ny\r\nd\re\r\n"
    write(path, "")
    assert path.read_bytes() == b""


def test_random_edits_are_read_back_as_they_were_written(tmp_path):
    path = tmp_path / "a.py"
    dice = random.Random(0)
    for _ in range(300):
        path.write_bytes("".join(dice.choices("ab\f\r\n", k=12)).encode())
        text = "".join(dice.choices("ab\f\n\n", k=12))
        write(path, text)
        assert read(path) == text


def test_half_a_surrogate_pair_is_refused_and_the_file_stays(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a")
    with pytest.raises(Refused, match="encoding"):
        write(path, "s = '\ud800'")
    assert path.read_text() == "a"


def test_a_file_differs_where_it_holds_another_text(tmp_path):
    path = tmp_path / "a.py"
    assert not differs(path, "a\n")
    path.write_bytes(b"a\r\n")
    assert not differs(path, "a\n")
    assert differs(path, "b")
    path.write_bytes(b"\xff\0")
    assert differs(path, "a\n")


def test_a_declared_encoding_is_kept(tmp_path):
    path = tmp_path / "a.py"
    data = b"# -*- coding: latin-1 -*-\ns = '\xe9'\n"
    path.write_bytes(data)
    text = read(path)
    assert text.endswith("s = 'é'\n")
    write(path, text)
    assert path.read_bytes() == data
    with pytest.raises(Refused, match="encoding that it declares"):
        write(path, text + "'日'")
    assert path.read_bytes() == data


def test_a_declared_encoding_that_does_not_exist_is_not_believed(tmp_path):
    path = tmp_path / "a.py"
    write(path, "# coding: klingon\ns = 'é'\n")
    assert read(path) == "# coding: klingon\ns = 'é'\n"


@pytest.mark.parametrize(
    "name", ["rot13", "base64", "zlib", "undefined", "punycode", "unicode_escape", "utf-16"]
)
def test_an_encoding_that_is_none_of_lines_of_text_is_not_believed(tmp_path, name):
    path = tmp_path / "a.py"
    text = f"# coding: {name}\ns = 'é'\n"
    path.write_text(text, encoding="utf-8")
    assert read(path) == text
    write(path, text + "x = 1\n")
    assert path.read_bytes() == (text + "x = 1\n").encode()


@pytest.mark.parametrize(
    "name", ["idna", "raw_unicode_escape", "utf-7", "cp037", "gb18030", "big5"]
)
def test_whatever_encoding_is_declared_a_file_is_read_or_refused(tmp_path, name):
    path = tmp_path / "a.py"
    for rest in (b"x = 1\n", b"\xff" * 99, b"." * 99 + b"\n", b"\\u12 +A- \x80\n"):
        data = f"# coding: {name}\n".encode() + rest
        path.write_bytes(data)
        with pytest.raises(Refused, match=r"is not text|encoding"):
            write(path, read(path) + "\ud800")
        assert path.read_bytes() == data


def test_a_text_that_its_encoding_takes_no_line_of_is_refused_and_the_file_stays(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a")
    with pytest.raises(Refused, match="encoding that it declares"):
        write(path, "# coding: idna\n" + "é" * 99 + "..x\n")
    assert path.read_text() == "a"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_with_a_name_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(Refused, match="is no plain file"):
        documents.read(pipe)
    with pytest.raises(Refused, match="is no plain file"):
        session_file.read(pipe)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere names are text")
def test_a_name_that_is_no_text_is_refused_before_anything_is_made_of_it(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py"))
    path.write_bytes(b"x = 1\n")
    with pytest.raises(Refused, match="give the file another name") as refused:
        documents.read(path)
    assert "caf\ufffd.py" in str(refused.value)
    with pytest.raises(Refused, match="give the file another name"):
        documents.write(path, "y = 2\n")
    assert path.read_bytes() == b"x = 1\n"


def test_a_disk_that_can_only_be_read_is_called_that_before_long_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(Refused, match="you may not write there"):
        documents.check_writable(tmp_path / "a.gif")
    only_read = types.SimpleNamespace(f_flag=getattr(os, "ST_RDONLY", 1))
    monkeypatch.setattr(os, "statvfs", lambda _: only_read, raising=False)
    monkeypatch.setattr(os, "ST_RDONLY", 1, raising=False)
    with pytest.raises(Refused, match="the disk is read-only"):
        documents.check_writable(tmp_path / "a.gif")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("n" * 300 + "/a.gif", "its name is too long"),
        ("nowhere/deep/a.gif", "its folder does not exist"),
        ("file/a.gif", "its folder does not exist"),
        (".", "Is a directory"),
    ],
)
def test_why_a_file_cannot_be_written_is_told_before_long_work(tmp_path, place, why):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match=f"(?i){why}"):
        documents.check_writable(tmp_path / place)


def test_a_file_that_cannot_be_looked_at_does_not_differ(tmp_path):
    assert not documents.differs(tmp_path / ("n" * 300), "x = 1\n")


@pytest.mark.skipif(os.name != "posix", reason="POSIX only")
def test_a_draft_nested_without_end_or_too_long_is_put_aside(tmp_path):
    drafts = Drafts(tmp_path)
    (tmp_path / "untitled.json").write_bytes(b'{"saved":' + b"[" * 100_000)
    with pytest.raises(Refused, match="kept as"):
        drafts.find("")
    with (tmp_path / "untitled.json").open("wb") as file:
        file.truncate(40 << 30)
    with pytest.raises(Refused, match="kept as"):
        drafts.find("")
    assert drafts.find("") is None
    assert len(list(tmp_path.glob("untitled.json*.bak"))) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_nobody_waits_for_what_is_no_file_in_the_place_of_a_draft(tmp_path):
    os.mkfifo(tmp_path / "untitled.json")
    with pytest.raises(Refused, match="no plain file"):
        Drafts(tmp_path).find("")


@pytest.mark.parametrize("where", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_program(tmp_path, where):
    (tmp_path / "x.py").symlink_to(where)
    with pytest.raises(Refused, match="no plain file"):
        read(tmp_path / "x.py")


def test_a_file_that_keeps_its_reader_waiting_is_no_program(tmp_path, monkeypatch):
    (tmp_path / "x.py").write_text("x = 1\n")
    assert read(tmp_path / "x.py") == "x = 1\n"
    monkeypatch.setattr(documents.select, "select", lambda *_: ([], [], []))
    if hasattr(os, "O_NONBLOCK"):
        with pytest.raises(Refused, match="no plain file"):
            read(tmp_path / "x.py")


@pytest.mark.skipif(os.name != "posix", reason="POSIX only")
def test_links_in_a_circle_are_refused_in_words(tmp_path):
    (tmp_path / "a.py").symlink_to("b.py")
    (tmp_path / "b.py").symlink_to("a.py")
    path = documents.resolve(tmp_path / "a.py")
    with pytest.raises(Refused, match="cannot be read"):
        read(path)
    with pytest.raises(Refused):
        write(path, "x = 1\n")
