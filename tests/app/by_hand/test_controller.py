"""Gradients by hand in the window: asked, hidden, checked, scored (row 243)."""

import pytest
from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QPlainTextEdit, QWidget

from gradscribe.app.commands import learn
from gradscribe.app.lessons import catalogue
from gradscribe.engine.protocol.messages import HandCheck, Peek
from gradscribe.playback.by_hand import score
from gradscribe.widgets.inspector.panes.check import CheckPane

# ∂(wx − 5)²/∂w = 2(3.25·2 − 5)·2 = 6, by x = 2·1.5·3.25 = 9.75, by y = 3
W, X, Y = 6.0, 9.75, 3.0


def test_the_questions_of_the_program_are_listed(bench):
    assert bench.pane.page().questions == ("∂loss/∂y", "∂loss/∂x", "∂loss/∂w") or set(
        bench.pane.page().questions
    ) == {"∂loss/∂y", "∂loss/∂x", "∂loss/∂w"}


@pytest.mark.checklist(243)
def test_a_right_number_and_a_right_expression_are_right(bench):
    bench.ask("w")
    assert bench.answer("6").mood == "good"
    bench.ask("x")
    assert bench.answer("2 * (y - 5) * w").mood == "good"
    bench.ask("y")
    assert bench.answer("2 * (y - 5.0)").mood == "good"


def test_a_wrong_answer_names_the_link_and_goes_there(bench):
    bench.ask("w")
    page = bench.answer("2 * (y - 5)")
    assert page.mood == "bad"
    assert "mul (line 3)" in page.reply
    assert page.has_link
    bench.pane.link.click()
    card = bench.window.presenter.selected_card()
    assert bench.session.result.tape.ops[card.op].op == "mul"
    assert bench.hand.chosen.name == "w"


def test_what_cannot_be_read_is_no_try(bench):
    bench.ask("w")
    page = bench.answer("2 *")
    assert page.mood == ""
    assert "invalid syntax" in page.reply
    bench.answer("6")
    assert score.decode(bench.window.settings.text("by_hand"))["mul"].first == 1


def test_the_selected_card_is_the_question(bench):
    bench.window.presenter.select_name("x")
    assert bench.hand.chosen.name == "x"
    assert bench.pane.questions.currentText() == "∂loss/∂x"


def test_an_answer_goes_to_the_engine_with_the_names_and_never_runs_in_the_window(bench):
    bench.ask("w")
    bench.pane.field.setText("__import__('os').abort()")
    bench.pane.field.returnPressed.emit()
    asked = bench.link.asked[-1]
    assert isinstance(asked, HandCheck)
    assert asked.code == "__import__('os').abort()"
    assert {"x", "w", "y", "loss"} == {name.name for name in asked.names}
    assert bench.pane.check.isEnabled() is False


@pytest.mark.checklist(243)
def test_hidden_gradients_are_in_no_view(bench):
    bench.hand.hide(True)
    assert bench.gradient("w") is None
    assert bench.gradient("loss") == 1
    written = everything_written(bench.window)
    for secret in ("6.0000", "9.7500", "3.0000", "tensor(6.)"):
        assert secret not in written
    bench.hand.hide(False)
    assert "6.0000" in everything_written(bench.window)
    assert bench.gradient("w") == W


def everything_written(window):
    """The text of all labels, tables and inlays, at each position and for each selected card."""
    found = []
    for position in range(len(window.session.result.tape.events) + 1):
        window.session.move(position)
        found += written_now(window)
    for side in ("value", "gradient"):
        window.inspector.show_side(side)
        for card in window.presenter.picture.cards:
            window.session.select(card.key)
            found += written_now(window)
    return "\n".join(found)


def written_now(window):
    QCoreApplication.processEvents()
    window.editor.grab()  # inlays are placed as they are painted
    found, top = card_texts(window), QModelIndex()
    for label in window.findChildren(QLabel):
        found += [label.text(), label.toolTip(), label.accessibleName()]
    for view in window.findChildren(QAbstractItemView):
        model = view.model()
        for row in range(model.rowCount(top) if model else 0):
            # Qt hides the number of columns of a list, which has one.
            columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(top)
            for column in range(columns):
                at = model.index(row, column, top)
                roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
                found += [str(model.data(at, role)) for role in roles]
    for text in window.findChildren(QPlainTextEdit):
        found.append("" if text is window.editor else text.toPlainText())
    found += [str(mark) for mark in window.editor.placed_marks()]
    found += [widget.accessibleDescription() for widget in window.findChildren(QWidget)]
    return found


def card_texts(window):
    picture = window.presenter.picture
    keys = [part.key for part in (*picture.cards, *picture.wires)]
    return [window.graph.words(key) for key in keys]


def test_a_found_gradient_is_shown_and_the_others_stay_hidden(bench):
    bench.hand.hide(True)
    bench.ask("w")
    assert bench.answer("7").mood == "bad"
    assert bench.gradient("w") is None
    page = bench.answer("6")
    assert page.mood == "good"
    assert page.progress == "1 of 3 gradients found"
    assert bench.gradient("w") == W
    assert bench.gradient("x") is None
    assert bench.gradient("y") is None
    assert "tensor(6.)" in bench.session.result.stdout


def test_showing_a_gradient_counts_as_not_found(bench):
    bench.hand.hide(True)
    bench.ask("x")
    bench.pane.reveal.click()
    assert bench.gradient("x") == X
    assert bench.gradient("w") is None
    assert score.decode(bench.window.settings.text("by_hand"))["mul"].shown == 1
    bench.answer("9.75")
    assert score.decode(bench.window.settings.text("by_hand"))["mul"].first == 0


def test_the_score_counts_first_and_later_tries(bench):
    bench.ask("w")
    bench.answer("1")
    bench.answer("6")
    bench.answer("6")
    bench.ask("y")
    bench.answer("3")
    known = score.decode(bench.window.settings.text("by_hand"))
    assert known["mul"].later == 1
    assert known["sub"].first == 1
    assert any("mul: 0 of 1" in line for line in bench.pane.page().score)
    bench.pane.forget.click()
    assert bench.pane.page().score == ()


def test_the_next_gradient_is_one_that_is_not_found(bench):
    bench.ask("y")
    bench.answer("3")
    bench.pane.field.returnPressed.emit()
    assert bench.hand.chosen.name != "y"
    assert bench.pane.field.text() == ""


def test_numbers_that_are_hidden_are_not_fetched(bench):
    bench.load("w = param(torch.ones(60, 60))\n((w * 2) ** 2).sum().backward()\n")
    bench.hand.hide(True)
    tape = bench.session.result.tape
    hidden = [at for at, snapshot in enumerate(tape.snapshots) if snapshot.is_hidden]
    assert hidden
    before = list(bench.link.asked)
    for number in hidden:
        bench.session.numbers.peek(number)
    assert bench.link.asked == before
    assert not any(isinstance(one, Peek) for one in before)


def test_finite_differences_are_not_offered_for_a_hidden_gradient(bench):
    bench.hand.hide(True)
    bench.window.presenter.select_name("w")
    pane = next(p for p in bench.window.inspector.panes if isinstance(p, CheckPane))
    assert all(block.isHidden() for block in pane.blocks)
    assert "find it by hand" in pane._reason.said()


def test_another_text_hides_all_again_and_the_same_text_none(bench):
    bench.hand.hide(True)
    bench.ask("w")
    bench.answer("6")
    bench.session.run_now()
    bench.run()
    assert bench.gradient("w") == W
    assert bench.pane.page().progress == "1 of 3 gradients found"
    bench.session.apply_fix(bench.session.doc.source.replace("3.25", "4.0"))
    bench.run()
    assert bench.gradient("w") is None
    assert bench.pane.page().progress == "0 of 3 gradients found"


def test_what_a_running_program_prints_waits_for_its_tape(bench):
    bench.hand.hide(True)
    bench.session.run_now()
    bench.link.print("tensor(6.)\n")
    assert "6" not in bench.session.result.stdout
    bench.run()
    assert bench.session.result.stdout == "tensor(?)\n"


def test_the_changes_since_the_run_before_show_no_hidden_gradient(bench):
    bench.session.apply_fix(bench.session.doc.source.replace("3.25", "4.0"))
    bench.run()
    bench.hand.hide(True)
    changes = bench.window.changes
    latest = changes.history.latest()
    assert latest is not None
    shown = changes._hidden(latest.run.tape)
    assert shown is not latest.run.tape
    assert all(shown.snapshots[a.sent].is_hidden for a in shown.accumulations)


def test_an_exercise_is_a_program_with_hidden_gradients_and_leads_back(bench):
    own = bench.session.doc.source
    bench.hand.begin_exercise(1)
    bench.run()
    assert bench.session.doc.source != own
    assert bench.session.hiding.is_on
    assert bench.hand.chosen.name == bench.hand.exercise.asked
    first = bench.session.doc.source
    bench.hand.begin_exercise(2)
    bench.run()
    assert bench.session.doc.source != first
    bench.pane.leave.click()
    bench.run()
    assert bench.session.doc.source == own
    assert not bench.session.hiding.is_on
    assert not bench.hand.exercise.is_open
    assert bench.gradient("w") == W


def test_an_exercise_is_answered_with_torchs_gradient(bench):
    for level in (1, 3, 6):
        bench.hand.begin_exercise(level)
        bench.run()
        asked = bench.hand.chosen.name
        names = {"torch": __import__("torch"), "F": __import__("torch").nn.functional}
        from gradscribe.engine.run.run import param

        names["param"] = param
        exec(bench.session.doc.source, names)
        true = names[asked].grad.tolist()
        assert bench.answer(repr(true)).mood == "good"
        assert bench.hand.chosen.name == asked


def test_an_open_exercise_is_forgotten_when_another_program_is_opened(bench):
    bench.hand.begin_exercise(1)
    bench.run()
    bench.load("a = param(1.0)\n(a * 2).backward()\n")
    assert not bench.hand.exercise.is_open
    assert not bench.pane.leave.isVisibleTo(bench.pane)


def test_a_lesson_shows_its_gradients(bench):
    bench.hand.hide(True)
    bench.window.context.lessons.open(catalogue.builtin(catalogue.summaries()[0].file))
    bench.run()
    assert not bench.session.hiding.is_on
    assert not bench.hand.can_hide()
    bench.hand.hide(True)
    assert not bench.session.hiding.is_on


def test_a_program_without_backward_says_so(bench):
    bench.load("x = torch.ones(3)\n")
    page = bench.pane.page()
    assert page.chosen == -1
    assert "backward()" in page.about
    bench.pane.field.returnPressed.emit()
    assert not bench.pane.field.isEnabled()


def test_an_answer_to_a_text_that_did_not_run_is_refused(bench):
    bench.ask("w")
    bench.session.apply_fix(bench.session.doc.source + "\nraise ValueError('x')\n")
    bench.run()
    assert bench.session.result.stale
    bench.pane.field.setText("6")
    bench.pane.field.returnPressed.emit()
    assert "run it first" in bench.pane.page().reply


def test_a_reply_that_comes_late_is_dropped(bench):
    bench.ask("w")
    bench.pane.field.setText("6")
    bench.pane.field.returnPressed.emit()
    bench.load("a = param(1.0)\n(a * 2).backward()\n")
    assert bench.pane.page().reply == ""
    assert bench.pane.check.isEnabled()


def test_the_end_of_python_gives_the_check_up(bench):
    bench.ask("w")
    bench.pane.field.setText("6")
    bench.pane.field.returnPressed.emit()
    bench.link.die()
    assert bench.pane.check.isEnabled()
    assert "Python ended" in bench.pane.page().reply


@pytest.mark.parametrize("text", ["9" * 20_000, "(" * 5_000])
def test_a_huge_answer_is_refused(bench, text):
    bench.ask("w")
    bench.pane.field.setMaxLength(100_000)
    bench.pane.field.setText(text)
    bench.pane.field.returnPressed.emit()
    if bench.hand._asked is not None:
        bench.compare()
    assert bench.pane.page().mood == ""
    assert bench.pane.page().reply


def test_the_commands_lead_there(bench):
    context = bench.window.context
    learn.hide_gradients(context)
    assert bench.session.hiding.is_on
    assert bench.window.below.currentWidget() is bench.pane
    learn.reveal_gradient(context)
    learn.hide_gradients(context)
    assert not bench.session.hiding.is_on
    learn.next_exercise(context)
    bench.run()
    assert bench.hand.exercise.is_open
    learn.leave_exercise(context)
    bench.run()
    learn.show_backward_code(context)
    assert bench.code.window.isVisible()
    bench.code.window.close()
    learn.list_levels(context)[3].run(context)
    bench.run()
    assert bench.session.doc.title.endswith("level 4")
