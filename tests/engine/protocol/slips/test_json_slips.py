"""Slips of JSON written by hand are found where they are, and nothing else is."""

import json
import random

import pytest

from gradscribe.engine.protocol.slips.json_slips import first_slip

SLIPS = [
    ('{\n  | // my first run\n  "data": "sine"\n}', "no comments"),
    ('{"data": "sine", |# noisy\n "steps": 3}', "no comments"),
    ('{"a": "http://x#y", |/* x */ "steps": 3}', "no comments"),
    ('{"data": "sine",|}', "comma before }"),
    ('{"layers": [8, 8, |]}', "comma before ]"),
    ("{|'data': 'sine'}", "double quotes"),
    ('{"data": |“sine”}', "double quotes"),
    ('{|data: "sine"}', 'keys stand in double quotes: "data"'),
    ('{"steps": 3, |batch: 4}', 'keys stand in double quotes: "batch"'),
    ('{"data": |sine}', 'texts stand in double quotes: "sine"'),
    ('{"shuffle": |True}', "written true"),
    ('{"loss": |None}', "written null"),
    ('{"l1": |NaN}', "NaN and Infinity"),
    ('{"l1": |-Infinity}', "NaN and Infinity"),
    ('{"data" |= "sine"}', "colon"),
    ('{"data": "sine"|; "steps": 3}', "commas separate"),
    ('{"data": "sine"\n |"steps": 3}', "comma is missing"),
    ('{"layers": [8 |16]}', "comma is missing"),
    ('{"shuffle": true |"steps": 3}', "comma is missing"),
    ('{"data": |"sine\n}', "not closed"),
    ('{"lr": |.1}', "before and after its point"),
    ('{"lr": |1.}', "before and after its point"),
    ('{"n": |1_000}', "no + or _"),
    ('{"n": |+1}', "no + or _"),
    ('{"path": "C:|\\data"}', "backslash is written twice"),
    ('{"data": "sine"}|}', "has ended"),
    ('{"data": {"name": "sine"}|', "} is missing at the end"),
    ("[1, [2]|", "] is missing at the end"),
]


@pytest.mark.parametrize(("marked", "words"), SLIPS)
def test_a_slip_is_found_at_its_place(marked, words):
    text = marked.replace("|", "", 1)
    with pytest.raises(ValueError, match=r"."):
        json.loads(text, parse_constant=lambda word: int(word))
    found = first_slip(text)
    assert found is not None
    assert words in found[1]
    assert text[: found[0]].strip() == marked[: marked.index("|")].strip()


def test_what_is_json_has_no_slip():
    rng = random.Random(0)
    odd = ["//", "# x", "/* */", "True", "it's", '"', "\\", "a, }", "„x“", "=", ";", "\u2028", ""]

    def made(depth):
        kind = rng.randrange(7 if depth else 5)
        if kind < 5:
            return [rng.choice(odd), rng.uniform(-1e9, 1e9), rng.randrange(99), True, None][kind]
        size = rng.randrange(4)
        if kind == 5:
            return [made(depth - 1) for _ in range(size)]
        return {rng.choice(odd) + str(i): made(depth - 1) for i in range(size)}

    for indent in (None, 2) * 200:
        text = json.dumps(made(4), indent=indent, ensure_ascii=rng.random() < 0.5)
        assert first_slip(text) is None, text


def test_an_empty_text_has_no_slip():
    assert first_slip("") is None
    assert first_slip(" \n") is None
