"""The number of parts of MessagePack is counted as the decoder would, and bounded."""

import random

import msgspec
import pytest

from gradscribe.app.training.saving import msgpack_bounds

NESTED = {
    "a": [1, -1, 200, 70_000, 1 << 40, -(1 << 40), 1.5, None, True, False],
    "b": {"c": [[], {}, "é" * 40, "x" * 300, "y" * 70_000, b"", b"z" * 300, b"w" * 70_000]},
    "many": list(range(40)),
    "more": {str(number): number for number in range(40)},
    "lots": [0] * 70_000,
}


def count(value):
    if isinstance(value, dict):
        return 1 + sum(count(k) + count(v) for k, v in value.items())
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def test_a_value_ends_where_it_ends_and_has_as_many_parts_as_it_has():
    data = msgspec.msgpack.encode(NESTED)
    assert msgpack_bounds.skip(data + b"rest", 0, 1_000_000) == (len(data), count(NESTED))
    times = msgspec.msgpack.encode([msgspec.msgpack.Ext(1, b"x" * size) for size in range(20)])
    assert msgpack_bounds.skip(times, 0, 100) == (len(times), 21)


def test_what_has_one_part_too_many_is_refused():
    data, exact = msgspec.msgpack.encode(NESTED), count(NESTED)
    msgpack_bounds.skip(data, 0, exact)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip(data, 0, exact - 1)


def test_a_list_that_says_it_is_endless_ends_at_the_limit():
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip(b"\xdd\xff\xff\xff\xff" + bytes(5000), 0, 1000)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip(b"\x91" * 5000, 0, 1000)


def test_a_text_that_is_too_long_is_refused_and_raw_bytes_are_not():
    long = msgpack_bounds.LONGEST_TEXT + 1
    msgpack_bounds.skip(msgspec.msgpack.encode(bytes(long)), 0, 5)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip(msgspec.msgpack.encode("x" * long), 0, 5)


def test_whatever_is_cut_off_or_garbage_is_refused_or_skipped_and_never_more():
    whole = msgspec.msgpack.encode({"a": [1, "two", b"three", 4.0]})
    for size in range(len(whole)):
        with pytest.raises(msgpack_bounds.TooManyValues):
            msgpack_bounds.skip(whole[:size], 0, 100)
    dice = random.Random(0)
    for _ in range(2000):
        data = dice.randbytes(dice.randrange(60))
        try:
            end, _ = msgpack_bounds.skip(data, 0, 100)
        except msgpack_bounds.TooManyValues:
            continue
        assert 0 < end <= len(data)


@pytest.mark.parametrize("key", [b"\xa6setups", b"\xd9\x06setups", b"\xda\x00\x06setups"])
def test_a_field_is_bounded_by_itself_however_its_name_is_written(key):
    inner = msgspec.msgpack.encode([0] * 50)
    data = b"\x82" + msgspec.msgpack.encode("other") + inner + key + inner
    msgpack_bounds.skip_field(data, "setups", 1000, 51)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip_field(data, "setups", 1000, 50)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip_field(data, "setups", 103, 51)
    with pytest.raises(msgpack_bounds.TooManyValues):
        msgpack_bounds.skip_field(inner, "setups", 1000, 51)
