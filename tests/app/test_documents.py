"""Programs in and out of files: never a half file, never a traceback."""

import pytest

from app.documents import LIMIT, Draft, Drafts, Refused, read, write


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.py"
    write(path, "x = 'ä'\n")
    assert read(path) == "x = 'ä'\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.py"]


def test_line_ends_of_other_systems_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read(path) == "a\nb\nc\n"


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\0b", b"x" * (LIMIT + 1)])
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
    assert drafts.find("") is None


def test_without_a_folder_nothing_is_kept():
    drafts = Drafts(None)
    drafts.keep(Draft("a"))
    drafts.drop("")
    assert drafts.find("") is None


def test_a_draft_that_cannot_be_kept_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    Drafts(tmp_path / "file" / "drafts").keep(Draft("a"))


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
