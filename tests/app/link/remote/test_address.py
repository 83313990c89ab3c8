"""Addresses of engines: what they name, what ssh gets of them, and what is none."""

import pytest

from gradscribe.app.link.remote import address
from gradscribe.app.link.remote.address import Address, BadAddress


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ssh://user@lab:2222/opt-a/bin/python", ("lab", "user", 2222, "/opt-a/bin/python")),
        ("ssh://lab/opt-a/bin/python", ("lab", "", 0, "/opt-a/bin/python")),
        ("ssh://lab", ("lab", "", 0, "python3")),
        ("ssh://lab/", ("lab", "", 0, "python3")),
        ("ssh://lab/python3.12", ("lab", "", 0, "python3.12")),
        ("ssh://lab/~/venv/bin/python", ("lab", "", 0, "~/venv/bin/python")),
        ("ssh://[fe80::1%eth0]:22/usr/bin/python3", ("fe80::1%eth0", "", 22, "/usr/bin/python3")),
        ("ssh://user@10.0.0.7/a b/python", ("10.0.0.7", "user", 0, "/a b/python")),
    ],
)
def test_an_address_names_a_python_on_a_machine(text, parts):
    found = address.parse(text)
    assert (found.host, found.user, found.port, found.python) == parts
    assert address.parse(found.url) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lab", "is no address of an engine: write ssh://user@host/path/to/python"),
        ("", "is no address"),
        ("http://lab/python", "is no address"),
        ("ssh://", "names no machine"),
        ("ssh:///usr/bin/python", "names no machine"),
        ("ssh://a b/usr/bin/python", "names no machine"),
        ("ssh://-oProxyCommand=x/usr/bin/python", "names no machine"),
        ("ssh://user@-oProxyCommand=x/usr/bin/python", "names no machine"),
        ("ssh://-user@lab/usr/bin/python", "names no machine"),
        ("ssh://user@bob@lab/python", "names no machine"),
        ("ssh://lab:0/usr/bin/python", "ports are 1 to 65535"),
        ("ssh://lab:65536/usr/bin/python", "ports are 1 to 65535"),
        ("ssh://lab:x/usr/bin/python", "names no machine"),
        ("ssh://lab/usr/bin/python\nrm", "path that is none"),
    ],
)
def test_what_is_none_is_refused_in_a_line(text, words):
    with pytest.raises(BadAddress, match=words) as refusal:
        address.parse(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("python", "word"),
    [
        ("/usr/bin/python3", "/usr/bin/python3"),
        ("/a b/python", "'/a b/python'"),
        ("/a'b;rm -r x/python", "'/a'\"'\"'b;rm -r x/python'"),
        ("~/a b/python", "~/'a b/python'"),
        ("$(reboot)", "'$(reboot)'"),
    ],
)
def test_the_far_shell_gets_it_as_one_word(python, word):
    assert Address("lab", python=python).shell_python == word
