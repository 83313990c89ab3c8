"""Search: what is found by name, op, shape, module and bad numbers, and which card shows it."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build, search
from gradscribe.playback.tape import non_finite
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes
from tests.programs import TOWER


@pytest.fixture(scope="module")
def tower():
    return index_of(record(TOWER))


def found(index, query):
    return search.find(index, scenes(index)[0], query)


def ops(index, query):
    return [index.op(match.op).op for match in found(index, query) if match.call is None]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("16x8", (16, 8)),
        ("16 × 8", (16, 8)),
        ("(16, 8)", (16, 8)),
        ("[3]", (3,)),
        ("(3,)", (3,)),
        ("2 x 3 x 4", (2, 3, 4)),
        ("16", None),
        ("x1", None),
        ("", None),
    ],
)
def test_a_shape_is_read_as_people_write_it(text, shape):
    assert search.shape_of(text) == shape


def test_a_name_finds_the_op_that_made_it(tower):
    (match,) = found(tower, "LOSS")
    assert tower.op(match.op).op == "sum"


def test_an_op_is_found_each_time_it_ran(tower):
    assert len(ops(tower, "gelu")) == 12


def test_a_shape_finds_results_and_leaves(tower):
    shapes = {
        tower.values[m.value if m.value is not None else tower.op(m.op).outputs[0]].shape
        for m in found(tower, "2 × 8")
    }
    assert shapes == {(2, 8)}
    assert len(found(tower, "2x8")) == 24
    assert all(m.value is not None for m in found(tower, "8x4"))


def test_a_module_is_found_by_the_end_of_its_path(tower):
    calls = [tower.tape.calls[m.call].name for m in found(tower, "h.7") if m.call is not None]
    assert calls == ["net.h.7"]
    assert len([m for m in found(tower, "Block") if m.call is not None]) == 12


@pytest.mark.parametrize(
    "query", ["h.7 gelu", "gelu h.7", "net › h.7 › gelu", "h.7.gelu", "net h.7 gelu"]
)
def test_a_name_is_found_in_its_module(tower, query):
    (match,) = found(tower, query)
    op = tower.op(match.op)
    assert (op.op, tower.tape.calls[op.call].name) == ("gelu", "net.h.7")


def test_words_of_a_path_find_the_module_and_not_all_inside(tower):
    (match,) = found(tower, "block h.3")
    assert tower.tape.calls[match.call].name == "net.h.3"
    (leaf,) = found(tower, "h.3 fc weight")
    assert tower.values[leaf.value].name == "net.h.3.fc.weight"
    assert found(tower, "h.3 nothing") == ()


def test_an_op_outside_of_modules_has_no_path():
    index = index_of(record("x = param(2.0)\ny = torch.tanh(x)\ny.backward()"))
    assert found(index, ".") == ()
    assert ops(index, "tanh") == ["tanh"]


def test_matches_come_in_the_order_in_which_they_ran(tower):
    ranks = [match.op for match in found(tower, "fc") if match.op is not None]
    assert ranks == sorted(ranks)


def test_an_empty_or_unknown_query_finds_nothing(tower):
    assert found(tower, "  ") == found(tower, "no such thing") == ()


def test_bad_numbers_are_found_forward_and_backward():
    source = (
        "x = param([0.0, 4.0])\nroot = torch.sqrt(x)\nquot = x / x\n"
        "y = root * 2\nloss = y.sum() + quot.sum()\nloss.backward()"
    )
    index = index_of(record(source))
    assert "quot" in {
        index.values[index.op(m.op).outputs[0]].name
        for m in found(index, "nan")
        if m.op is not None
    }
    infinite = index_of(record("x = param(0.0)\ny = 1 / x\n(y * 2).backward()"))
    first = next(m.op for m in found(infinite, "inf") if m.op is not None)
    assert infinite.values[infinite.op(first).outputs[0]].name in ("", "y")
    assert any(m.value is not None for m in found(infinite, "inf")), "its gradient is infinite"


def test_a_match_in_folded_modules_is_reached_by_opening_one_after_the_other(tower):
    scene = scenes(tower)[0]
    (match,) = [m for m in found(tower, "h.7") if m.call is not None]
    fc = found(tower, "gelu")[7]
    for wanted in (match, fc):
        opened = frozenset()
        for _ in range(6):
            picture = build.build_picture(tower, scene, opened)
            key, itself = search.locate(picture, wanted)
            assert key
            if itself:
                break
            opened |= {key}
        assert itself
    card = next(card for card in picture.cards if card.key == key)
    assert card.op == fc.op


def test_a_leaf_inside_a_folded_module_is_reached_too(tower):
    scene = scenes(tower)[0]
    leaf = next(m for m in found(tower, "weight") if m.value is not None)
    key, itself = search.locate(build.build_picture(tower, scene, frozenset()), leaf)
    assert (key != "", itself) == (True, False)


def test_what_a_picture_does_not_show_has_no_place(tower):
    empty = build.build_picture(record("x = 1"), scenes(record("x = 1"))[0])
    assert search.locate(empty, search.Match(op=3)) == ("", False)


HOLES = """
x = param([1.0, 0.0, 4.0])
big = torch.ones(70, 70) * x[0]
a = torch.log(x - 1)
b = (x / 0.0).sum()
c = torch.ones(2, dtype=torch.float64) / torch.zeros(2, dtype=torch.float64)
d = x.sqrt().sum()
d.backward()
"""


def test_names_are_read_once_for_all_that_is_typed(tower, monkeypatch):
    search.build_index(tower, scenes(tower))
    seen = []
    title = search.symbols.op_title
    monkeypatch.setattr(search.symbols, "op_title", lambda op: seen.append(op) or title(op))
    for end in range(1, 5):
        assert found(tower, "gelu"[:end])
    assert seen == []


def test_numbers_are_looked_through_once_before_anyone_searches(monkeypatch):
    index = index_of(record(HOLES))
    search.build_index(index, scenes(index))
    monkeypatch.setattr(non_finite, "_holding", lambda *_: pytest.fail("looked through again"))
    assert found(index, "nan")
    assert found(index, "inf")
