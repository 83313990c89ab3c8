"""The words of a reply name the op, its line and the wrong factor."""

import pytest

from gradscribe.engine.protocol.messages import HandChecked, HandRow, Slip
from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.engine.run.run import record
from gradscribe.playback.by_hand import replies, targets
from gradscribe.playback.tape.index import index_of

SOURCE = "x = param(2.0)\nw = param(3.0)\ny = w * x\nloss = y ** 2\nloss.backward()\n"


@pytest.fixture(scope="module")
def index():
    return index_of(record(SOURCE))


@pytest.fixture(scope="module")
def target(index):
    return next(t for t in targets.all_targets(index, 99) if t.name == "w")


def reply(index, target, *slips, verdict="differs", **row):
    checked = HandChecked(
        0, 0, target.value, (HandRow("w", target.value, verdict, **row),), slips, 0
    )
    return replies.reply_to(checked, target, index)


def test_right_is_right(index, target):
    found = reply(index, target, verdict="equal")
    assert found.is_right
    assert found.words == "Right: this is ∂loss/∂w"
    assert reply(index, target, verdict="close").is_right


@pytest.mark.parametrize(
    ("slip", "part"),
    [
        (Slip("factor", 0), "breaks at mul (line 3): its own derivative is missing"),
        (Slip("rule", 1, text="x in place of y"), "breaks at pow (line 4): x in place of y"),
        (Slip("upstream", 0), "what arrives there from loss is missing"),
        (Slip("sign"), "the sign is turned over"),
        (Slip("transposed", 0), "the other matrix has to be transposed"),
        (Slip("accumulated"), "earlier passes"),
    ],
)
def test_a_wrong_link_is_named(index, target, slip, part):
    found = reply(index, target, slip)
    assert not found.is_right
    assert found.is_read
    assert part in found.words
    assert found.op == slip.op


def test_the_operand_is_named(index, target):
    x = next(v.id for v in index.tape.values if v.name == "x")
    words = reply(index, target, Slip("operand", 0, target.value, x)).words
    assert "the derivative by w is x, not w itself" in words


def test_several_mistakes_are_all_named(index, target):
    words = reply(index, target, Slip("factor", 0), Slip("rule", 1, text="the 2 is missing")).words
    assert "mul (line 3)" in words
    assert "pow (line 4): the 2 is missing" in words


def test_a_wrong_answer_without_a_single_mistake_says_where_to_begin(index, target):
    words = reply(index, target).words
    assert "no single wrong link" in words
    assert "Begin at loss" in words


def test_a_wrong_shape_is_said(index, target):
    found = reply(index, target, verdict="shape", own_shape=(2, 3), true_shape=(3, 2))
    assert found.words == (
        "Not right. Its shape is (2, 3), that of w is (3, 2): rows and columns are swapped"
    )


def test_an_error_of_the_code_is_no_try(index, target):
    checked = HandChecked(
        0, 0, 1, problem=Problem("NameError", "name 'q' is not defined", place=Place(3, 0, 3, 1))
    )
    found = replies.reply_to(checked, target, index)
    assert not found.is_read
    assert found.words == "Line 3: NameError: name 'q' is not defined"


def test_slips_of_a_hostile_engine_are_passed_over(index, target):
    for slip in (Slip("factor", 999), Slip("use", 0, value=10**6), Slip("operand", 0, 1, 10**6)):
        assert "no single wrong link" in reply(index, target, slip).words


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (HandRow("w", 1, "equal"), "equal to the bit"),
        (HandRow("w", 1, "close", (1,), 1.0, 1.1, 3, 1000, 2e-7), "3 of 1,000 differ, by 2.0e-07"),
        (HandRow("w", 1, "differs", (1,), 1.0, 1.5, 3, 4, 0.5), "3 of 4 differ, by 0.5 at most"),
        (HandRow("w", 1, "close", dtypes=("float64", "float32")), "float64, autograd's is float32"),
        (HandRow("w", 1, "none"), "no gradient"),
        (HandRow("w", -1, "unnamed"), "no such tensor"),
    ],
)
def test_a_row_is_written(row, text):
    assert text in replies.row_text(row)
