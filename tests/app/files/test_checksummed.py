"""A file is whole or it is told that it is not: at every byte."""

import random

import pytest

from gradscribe.app.files.checksummed import DamagedFile, NewerVersion, unwrap, wrap

PAYLOAD = '{"source":"x = param(1.0)\\n🙂"}'.encode()


def test_what_is_wrapped_is_unwrapped():
    for payload in (b"", b"\n", PAYLOAD, bytes(range(256))):
        assert unwrap(wrap(payload)) == payload


def test_a_file_cut_off_at_any_byte_is_damaged():
    whole = wrap(PAYLOAD)
    for length in range(len(whole)):
        with pytest.raises(DamagedFile):
            unwrap(whole[:length])


def test_any_changed_byte_is_noticed():
    whole = wrap(PAYLOAD)
    for at in range(len(whole)):
        for bit in range(8):
            spoilt = bytearray(whole)
            spoilt[at] ^= 1 << bit
            with pytest.raises((DamagedFile, NewerVersion)):
                unwrap(bytes(spoilt))


def test_garbage_is_damaged():
    dice = random.Random(0)
    start = b"gradscribe-session "
    for _ in range(500):
        for head in (b"", start, start + b"1 ", start + b"1 5 "):
            with pytest.raises((DamagedFile, NewerVersion)):
                unwrap(head + dice.randbytes(dice.randrange(200)))


def test_a_later_format_is_told_from_a_damaged_one():
    with pytest.raises(NewerVersion, match="format 2"):
        unwrap(b"gradscribe-session 2 something else\n")
