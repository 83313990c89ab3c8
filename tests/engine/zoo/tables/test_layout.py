"""Layout of a table's text: encoding, separator, comments, header."""

import pytest

from gradscribe.engine.zoo.tables import layout
from gradscribe.engine.zoo.tables.layout import SPACES, guess_layout

ROWS = "name,size\nZürich,1\nGenève,2\n"


@pytest.mark.parametrize(
    ("encoding", "guess"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
    ],
)
def test_the_encoding_is_found(encoding, guess):
    data = ROWS.encode(encoding)
    found = guess_layout(data)
    assert found.encoding == guess
    assert data.decode(found.encoding) == ROWS
    assert found.names == ("name", "size")


def test_cyrillic_words_are_read_as_such():
    text = "город;цена\nМосква;1\nКазань;2\n"
    assert guess_layout(text.encode("cp1251")).names == ("город", "цена")


def test_a_letter_that_a_piece_of_a_file_cuts_in_two_leaves_it_utf8(monkeypatch):
    monkeypatch.setattr(layout, "HEAD", 20)
    data = ("a,b\n" + "1,ü\n" * 10).encode()
    assert all(layout.guess_encoding(data[:size]) == "utf-8" for size in range(20, 40))


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, bytes(4000), b"\x01\x02\x03\x04" * 50])
def test_bytes_that_are_no_text_are_refused(data):
    with pytest.raises(ValueError, match="is not text"):
        guess_layout(data)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a b\n1 2\n", SPACES),
        ("a   b\n 1   2\n10  20\n", SPACES),
        ("1,5 2,5\n3,5 4,5\n", SPACES),
        ("day,what\n2024-01-01 10:00,red car\n2024-01-02 11:00,blue van\n", ","),
        ('size,price\n1,"157,670"\n2,"94,169"\n', ","),
        ("first name,last name\nAda,King\nAlan,Turing\n", ","),
        ("a;b;c\n1,2;3;x, y\n4,5;6;z\n", ";"),
    ],
)
def test_the_separator_is_the_one_that_fits_every_line(text, separator):
    assert guess_layout(text.encode(), header=True).separator == separator


def test_comments_are_skipped_and_names_may_stand_in_one():
    above = guess_layout(b"# made by hand\n# twice\na,b\n1,2\n")
    assert (above.comment, above.names, above.start) == ("#", ("a", "b"), 3)
    named = guess_layout(b"# x y\n1.0 2.0\n3.0 4.0\n")
    assert (named.comment, named.names, named.start) == ("#", ("x", "y"), 1)
    between = guess_layout(b"a,b\n1,2\n% broken sensor\n3,4\n")
    assert (between.comment, between.names, between.start) == ("%", ("a", "b"), 1)
    cells = guess_layout(b"id,b\n#1,2\n#2,4\n")
    assert (cells.comment, cells.names) == ("", ("id", "b"))
    given = guess_layout(b"! note\na,b\n1,2\n", comment="!")
    assert (given.comment, given.names, given.start) == ("!", ("a", "b"), 2)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("7.5,2.2,Iris-setosa\n5.1,3.5,Iris-setosa\n6.3,3.3,Iris-virginica\n", False),
        ("country,2019,2020\nFrance,1,2\nSpain,3,4\n", True),
        ("city,kind\nBern,a\nBasel,b\n", True),
        ("5,?,x\n1,2,x\n3,4,y\n", False),
    ],
)
def test_a_first_row_of_data_is_no_header(text, header):
    found = guess_layout(text.encode(), header=None)
    assert found.header == header
    if not header:
        assert found.start == 0
        assert found.names[0] == "column 1"


def test_what_is_known_is_not_guessed():
    given = guess_layout("ä;b\n1;2\n".encode(), encoding="latin-1", separator=",", header=False)
    assert (given.encoding, given.separator, given.names) == ("latin-1", ",", ("column 1",))


@pytest.mark.parametrize(
    ("data", "kind"), [(b"PK\x03\x04rest", "xlsx"), (b"PAR1", "parquet"), (b"a,b", "text")]
)
def test_kinds_of_files_by_their_first_bytes(data, kind):
    assert layout.file_kind(data) == kind
