"""The tab with the output: it comes forward for news, and only until somebody has chosen."""

import pytest

from gradscribe.app.document.state import ENGINE_DIED, Result
from gradscribe.app.ui.layout import tab_widget
from gradscribe.app.window.output_tab import OutputTab
from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.tables.console import Console


@pytest.fixture
def below(qtbot):
    console = Console()
    made = tab_widget(("Legend", Label("words")), ("Output", console))
    qtbot.addWidget(made)
    made.tab = OutputTab(made, console)
    return made


def test_the_first_output_comes_forward(below):
    below.tab.show_result(Result())
    assert below.currentIndex() == 0
    below.tab.show_result(Result(stdout="hello\n"))
    assert below.currentIndex() == 1


def test_a_chosen_tab_stays_until_another_program_comes(below):
    below.tabBarClicked.emit(0)
    below.tab.show_result(Result(stdout="hello\n"))
    assert below.currentIndex() == 0
    below.tab.show_result(Result())
    below.tab.forget()
    below.tab.show_result(Result(stdout="hello\n"))
    assert below.currentIndex() == 1


def test_a_problem_without_a_line_comes_forward_and_one_with_a_line_does_not(below):
    below.tab.show_result(Result(problem=Problem("E", "m", place=Place(3, 0, 3, 1))))
    assert below.currentIndex() == 0
    below.tab.show_result(Result(problem=Problem(ENGINE_DIED, "m")))
    assert below.currentIndex() == 0
    below.tab.show_result(Result(problem=Problem("TimeoutError", "m")))
    assert below.currentIndex() == 1


def test_warnings_are_counted_on_the_tab(below):
    below.tab.show_result(Result(stderr="line 3: UserWarning: a\nline 4: UserWarning: b\n"))
    assert below.tabText(1) == "Output · 2"
    assert below.tabToolTip(1) == "2 warnings"
    below.tab.show_result(Result())
    assert below.tabText(1) == "Output"
