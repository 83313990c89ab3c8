import pytest

from gradscribe.playback.explain import Explanation, ExplanationRow
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.explain import ExplainPane, explanation_rows
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList
from tests.widgets.inspector.panes.programs import page

SUM = Explanation(
    "AddBackward0 hands on its gradient",
    "n = s + b",
    "A sum hands its gradient on unchanged to every input",
    (
        ExplanationRow("∂L/∂n", "from tanh", "0.2071"),
        ExplanationRow("∂L/∂s", "= ∂L/∂n × 1", "0.2071", True),
        ExplanationRow("n", "= add", "0.8814", True),
    ),
)


@pytest.fixture
def pane(shown):
    return shown(ExplainPane(), 260, 400)


def test_gradients_being_made_are_pink_and_values_blue():
    assert explanation_rows(SUM) == [
        RowContent("∂L/∂n", "from tanh", "0.2071", "plain"),
        RowContent("∂L/∂s", "= ∂L/∂n × 1", "0.2071", "backward"),
        RowContent("n", "= add", "0.8814", "forward"),
    ]


def test_formula_words_and_rows_are_shown(pane):
    assert pane.show_page(InspectorPage(explanation=SUM))
    said = [label.said() for label in pane.findChildren(Label) if not label.isHidden()]
    assert said == ["n = s + b", SUM.words]
    assert len(pane.findChild(RowList).lines()) == 3


def test_a_formula_that_is_only_the_name_is_not_said_twice(pane):
    looked = page("b = param(1.0)", "b", explanation=Explanation("b", "b", "A parameter"))
    assert pane.show_page(looked)
    said = [label.said() for label in pane.findChildren(Label) if not label.isHidden()]
    assert said == ["A parameter"]


@pytest.mark.parametrize("explanation", [None, Explanation("only a title")])
def test_without_an_explanation_there_is_no_pane(pane, explanation):
    assert not pane.show_page(InspectorPage(explanation=explanation))
