"""The signature of a call, driven by keys."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.engine.protocol.language import Explain, Explained, KnownName
from tests.widgets.editor.completion.conftest import PROGRAM

Key = Qt.Key


def test_a_bracket_opens_the_signature_and_its_partner_closes_it(user):
    user.type("torch.matmul(")
    assert user.signature.startswith("matmul(input, other")
    assert "Matrix product of two tensors." in user.signature
    assert user.bold == "input"
    user.type("x")
    assert user.bold == "input"
    user.type(", ")
    assert user.bold == "other"
    user.type("y)")
    assert not user.signature


def test_a_keyword_makes_its_parameter_bold(user):
    user.type("torch.randn(2, 3, requires_grad=")
    assert user.bold == "requires_grad=False"
    user.type("True, dtype=")
    assert user.bold == "dtype=None"


def test_of_several_signatures_the_one_that_fits_comes_first(user):
    user.type("torch.max(x")
    assert user.signature.splitlines()[0].startswith("max(input, *")
    user.type(", ")
    assert user.signature.splitlines()[0].startswith("max(input, dim")
    assert user.bold == "dim"


def test_the_inner_call_has_its_signature_and_then_the_outer_again(user):
    user.type("torch.relu(torch.matmul(x, ")
    assert user.bold == "other"
    user.type("x)")
    user.help.take(
        Explained(user.last(Explain).serial, KnownName("relu", "function", ("(input)",)))
    )
    assert user.signature.startswith("relu(")


def test_going_back_makes_the_first_argument_bold_again(user):
    user.type("torch.matmul(x, x")
    assert user.bold == "other"
    user.press(Key.Key_Left, Key.Key_Left, Key.Key_Left)
    assert user.bold == "input"
    user.press(Key.Key_Home)
    assert not user.signature


def test_letters_that_come_faster_than_the_event_loop_open_it_too(user):
    user.qtbot.keyClicks(user.edit, "torch.matmul(x, ")
    user.settle()
    assert user.bold == "other"


def test_escape_closes_it(user):
    user.type("torch.matmul(")
    user.press(Key.Key_Escape)
    assert not user.signature
    user.type("x")
    assert not user.signature
    user.type(", ")
    assert user.bold == "other"


def test_a_call_over_several_lines(user):
    user.type("torch.matmul(")
    user.press(Key.Key_Return)
    user.type("x,")
    user.press(Key.Key_Return)
    assert user.bold == "other"


@pytest.mark.parametrize("text", ['"f(', "# f(", "def f(", "class A(", "x = (", "if (", "3 * ("])
def test_brackets_that_call_nothing_open_nothing(user, text):
    user.type(text)
    assert not user.signature
    assert user.explains == []


def test_a_function_of_the_program_is_asked_about_once(user):
    user.type("helper(1, ")
    assert len(user.explains) == 1
    asked = user.last(Explain)
    assert (asked.line, asked.column) == (6, len("helper("))
    known = KnownName("helper", "function", ("(first, second=2)",), "Helps.")
    user.help.take(Explained(asked.serial, known))
    assert user.signature == "helper(first, second=2)\nHelps."
    assert user.bold == "second=2"


def test_a_late_answer_is_dropped(user):
    user.type("helper(")
    serial = user.last(Explain).serial
    user.type(")")
    user.help.take(Explained(serial, KnownName("helper", "function", ("(a)",))))
    assert not user.signature


def test_markup_in_a_signature_is_shown_as_it_is(user):
    user.type("helper(")
    text = "(a='<b>&amp;</b><img src=x>')"
    user.help.take(
        Explained(user.last(Explain).serial, KnownName("helper", "function", (text,), "<i>x</i>"))
    )
    assert user.signature == f"helper{text}\n<i>x</i>"


def test_on_demand_it_opens_within_a_call_and_says_where_there_is_none(user):
    user.edit.insertPlainText("torch.matmul(x, ")
    user.settle()
    assert not user.signature
    user.help.explain()
    assert user.bold == "other"
    user.put(PROGRAM)
    user.help.explain()
    assert user.said == ["The caret is not among the arguments of a call"]


def test_it_stays_within_the_window_and_above_the_line(user):
    user.put("\n" * 8)
    user.type("F.cross_entropy(")
    tip = user.help.call_help.tip
    assert user.host.rect().contains(tip.geometry())
    user.host.resize(430, 300)
    user.edit.resize(420, 300)
    user.put("F.cross_entropy")
    user.type("(")
    assert user.host.rect().contains(tip.geometry())


def test_list_and_signature_do_not_cover_each_other(user):
    user.put("\n" * 8)
    user.type("F.cross_entropy(lo")
    assert user.is_open
    assert user.signature
    tip, names = user.help.call_help.tip.geometry(), user.help.completion.list.geometry()
    assert not tip.intersects(names)
