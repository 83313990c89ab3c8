"""Shapes and numbers in little space: shorter, but never another shape or another size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.text import formatting
from gradscribe.playback.text.fitting import fitted, fitted_name, forms


def read(text):
    """Return the number that a text is read as."""
    return float(text.rstrip("…").replace(formatting.MINUS, "-").replace(",", ""))


@pytest.mark.parametrize(
    ("text", "letters", "shown"),
    [
        ("100 × 1", 7, "100 × 1"),
        ("100 × 1", 6, "100×1"),
        ("100 × 1", 4, ""),
        ("2 × 8 × 16", 6, "2×8×16"),
        ("2 × 8 × 16 · 3 NaN", 14, "2×8×16 · 3 NaN"),
        ("2 × 8 × 16 · 3 NaN", 8, "2×8×16"),
        ("16 → 16 · 272 params", 19, "16→16 · 272 params"),
        ("16 → 16 · 272 params", 16, "16 → 16"),
        ("16 → 16 · 272 params", 5, "16→16"),
        ("16 → 16 · 272 params", 4, ""),
        ("16 → 4", 5, "16→4"),
        ("0.8814", 6, "0.8814"),
        ("0.8814", 5, "0.88…"),
        ("1234.5678", 7, "1234.5…"),
        ("1234.5678", 6, "1.23e3"),
        ("1234567", 6, "1.23e6"),
        ("1,234,567", 5, "1.2e6"),
        ("∇ 0.1234", 7, "∇ 0.12…"),
        ("−1.23e−07", 5, "−1e−7"),
        ("1234567", 2, ""),
        ("7", 0, ""),
        ("words", 3, None),
        ("[1.0, 2.0]", 4, None),
    ],
)
def test_the_longest_form_that_fits_is_shown(text, letters, shown):
    assert fitted(text, lambda form: len(form) <= letters) == shown


@given(st.floats(-1e12, 1e12, allow_subnormal=False), st.integers(1, 14))
def test_a_number_keeps_its_size_and_sign(x, letters):
    text = formatting.number(x)
    shown = fitted(text, lambda form: len(form) <= letters)
    if shown:
        # A single digit is off by half of itself at most, a cut by what is cut.
        assert read(shown) == pytest.approx(read(text), rel=0.5, abs=0.1)
        assert len(shown) <= letters


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=6), st.integers(1, 40))
def test_a_shape_is_whole_or_absent(dims, letters):
    shown = fitted(formatting.shape(tuple(dims)), lambda form: len(form) <= letters)
    assert shown == "" or [int(n) for n in shown.split("×")] == dims


@given(st.text(max_size=12))
def test_forms_are_shorter_than_the_text(text):
    assert all(len(form) < len(text) or form == text for form in forms(text))


@pytest.mark.parametrize(
    ("name", "letters", "shown"),
    [
        ("blocks.0.attention.weight", 25, "blocks.0.attention.weight"),
        ("blocks.0.attention.weight", 16, "blocks.0….weight"),
        ("blocks.0.attention.weight", 9, "b….weight"),
        ("blocks.0.attention.weight", 8, "…weight"),
        ("blocks.0.attention.weight", 7, "…weight"),
        ("blocks.0.attention.weight", 6, "wei…ht"),
        ("centre_of_the_circle", 8, "cent…cle"),
        ("centre_of_the_circle", 2, "c…"),
        ("x", 0, "…"),
        ("", 0, ""),
    ],
)
def test_a_name_is_cut_in_the_middle_and_its_last_part_stays_whole(name, letters, shown):
    assert fitted_name(name, lambda form: len(form) <= letters) == shown


@given(
    st.lists(st.text("ab_0", min_size=1, max_size=9), min_size=1, max_size=4), st.integers(1, 40)
)
def test_a_name_fits_and_begins_and_ends_as_it_does(parts, letters):
    name = ".".join(parts)
    shown = fitted_name(name, lambda form: len(form) <= letters)
    assert len(shown) <= letters
    if shown != name:
        head, _, tail = shown.partition("…")
        assert name.startswith(head) or parts[-1].startswith(head)
        assert name.endswith(tail)
