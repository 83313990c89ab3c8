import pytest

from playback.explain import Explanation, Row
from tests.widgets.panes.programs import page
from widgets.labels import Label
from widgets.panes.explain import ExplainPane, lines
from widgets.panes.page import Page
from widgets.panes.rows import Line, Rows

SUM = Explanation(
    "AddBackward0 hands on its gradient",
    "n = s + b",
    "A sum hands its gradient on unchanged to every input",
    (
        Row("∂L/∂n", "from tanh", "0.2071"),
        Row("∂L/∂s", "= ∂L/∂n × 1", "0.2071", True),
        Row("n", "= add", "0.8814", True),
    ),
)


@pytest.fixture
def pane(shown):
    return shown(ExplainPane(), 260, 400)


def test_gradients_being_made_are_pink_and_values_blue():
    assert lines(SUM) == [
        Line("∂L/∂n", "from tanh", "0.2071", "plain"),
        Line("∂L/∂s", "= ∂L/∂n × 1", "0.2071", "backward"),
        Line("n", "= add", "0.8814", "forward"),
    ]


def test_formula_words_and_rows_are_shown(pane):
    assert pane.show_page(Page(explanation=SUM))
    said = [label.said() for label in pane.findChildren(Label) if not label.isHidden()]
    assert said == ["n = s + b", SUM.words]
    assert len(pane.findChild(Rows).lines()) == 3


def test_a_formula_that_is_only_the_name_is_not_said_twice(pane):
    looked = page("b = param(1.0)", "b", explanation=Explanation("b", "b", "A parameter"))
    assert pane.show_page(looked)
    said = [label.said() for label in pane.findChildren(Label) if not label.isHidden()]
    assert said == ["A parameter"]


@pytest.mark.parametrize("explanation", [None, Explanation("only a title")])
def test_without_an_explanation_there_is_no_pane(pane, explanation):
    assert not pane.show_page(Page(explanation=explanation))
