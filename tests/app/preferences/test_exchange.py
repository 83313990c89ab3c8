"""Settings as a file: what is written is read again, and what does not fit is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.app.preferences import exchange
from gradscribe.app.preferences.exchange import InvalidSettings, decode, encode
from gradscribe.app.preferences.rows import BY_KEY, CHOICES

DEFAULTS = {row.key: row.default for row in CHOICES}
TRAVELLING = {row.key for row in CHOICES if row.travels}


def written(settings, version=1, kind="gradscribe settings"):
    return json.dumps({"format": kind, "version": version, "settings": settings}).encode()


def test_what_is_written_is_read_again():
    values = {**DEFAULTS, "theme": "dark", "text": 1.5, "order": True, "ui_font": "思源黑体"}
    found = decode(encode(values))
    assert found.values == {key: values[key] for key in TRAVELLING}
    assert (found.unknown, found.unfit, found.local) == ((), (), ())
    assert found.summary() == f"{len(TRAVELLING)} settings taken over"


def test_the_file_is_json_with_a_version():
    content = json.loads(encode(DEFAULTS))
    assert content["format"] == "gradscribe settings"
    assert content["version"] == exchange.VERSION


def test_a_file_cannot_give_programs_permissions_or_choose_what_is_executed():
    assert {"access", "editor"}.isdisjoint(json.loads(encode(DEFAULTS))["settings"])
    found = decode(written({"access": True, "editor": "sh -c {file}", "theme": "dark"}))
    assert found.values == {"theme": "dark"}
    assert found.local == ("access", "editor")
    assert "Set by hand if you want it: Let my programs use files, Your editor" in found.summary()


def test_what_is_unknown_or_does_not_fit_is_named_and_the_rest_taken_over():
    found = decode(
        written({"theme": "pink", "speed": 99, "sparkle": 1, "text": 2, "lessons": "{}"})
    )
    assert found.values == {"text": 2.0}
    assert found.unfit == ("theme", "speed")
    assert found.unknown == ("sparkle", "lessons")
    assert found.summary() == (
        "1 setting taken over. Not known here: sparkle, lessons. "
        "Left as it is, because the value does not fit: theme, speed"
    )


def test_many_unknown_keys_do_not_fill_the_screen():
    words = decode(written({f"{n}" * 90: n for n in range(50)})).summary()
    assert "and 45 more" in words
    assert len(words) < 400


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not contain settings"),
        (b"\xff\xfe", "does not contain settings"),
        (b"[1, 2]", "does not contain settings"),
        (b"[" * 100_000, "does not contain settings"),
        (written({}, kind="tape"), "does not contain settings"),
        (written([]), "does not contain settings"),
        (written({}, version=2), "newer version"),
        (written({}) + b" " * (1 << 20), "too big"),
        (encode(DEFAULTS)[:-20], "does not contain settings"),
    ],
)
def test_what_is_no_file_of_settings_is_refused_with_a_reason(data, why):
    with pytest.raises(InvalidSettings, match=why):
        decode(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(BY_KEY)) | st.text(), JSON))
def test_whatever_a_file_says_only_fitting_values_are_taken_over(settings):
    found = decode(written(settings)) if _is_json(settings) else None
    for key, value in found.values.items() if found else ():
        assert BY_KEY[key].accepts(value)
        assert BY_KEY[key].travels


def _is_json(settings):
    try:
        decode(written(settings))
    except InvalidSettings:
        return False  # NaN and lone surrogates, which JSON does not have.
    return True
