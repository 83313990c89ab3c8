"""Work that is done in time slices."""

import pytest

from gradscribe.widgets.base.drive import GeneratorRun, run_to_end


def counting(upto, happened):
    for number in range(upto):
        happened.append(number)
        yield
    return "made"


def test_one_bit_is_made_at_a_time_and_what_they_made_is_kept():
    happened = []
    bits = GeneratorRun(counting(3, happened))
    assert not happened, "nothing is made before it is asked for"
    for done, _ in enumerate(bits, 1):
        assert happened == list(range(done))
        assert not hasattr(bits, "result"), "nothing is made yet"
    assert bits.result == "made"


def test_all_at_once_is_what_the_bits_make():
    happened = []
    assert run_to_end(counting(4, happened)) == "made"
    assert happened == [0, 1, 2, 3]


def test_what_goes_wrong_in_a_bit_is_raised_by_who_asked_for_it():
    def wrong():
        yield
        raise ValueError("a bit")

    with pytest.raises(ValueError, match="a bit"):
        run_to_end(wrong())


def test_what_nobody_goes_on_with_is_told_so():
    left = []

    def careful():
        try:
            yield
        finally:
            left.append("over")

    bits = iter(GeneratorRun(careful()))
    next(bits)
    bits.close()
    assert left == ["over"]
