"""A lesson in the window: the program, the tape and the selection follow the learner."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.commands import learn
from gradscribe.app.document import examples
from gradscribe.app.document.state import Doc
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.lesson_list import LessonList
from gradscribe.playback.lessons.parse import parse_lesson

TEXT = """+++
title = "Two uses"
about = "Shares are added"
part = "Autograd"
covers = ["A6"]
+++

## Look

Words.

```python
x = param(2.0)
y = x * x
y.backward()
```

```look
at = "before backward"
select = "y"
open = "ledger"
```

## Ask

Words.

```look
at = "before backward"
```

```ask
question = "What is it?"
answer = "grad(x)"
hint = "Both uses count"
why = "2 + 2"
```

## Guess

Words.

```diff
-y = x * x
+y = x * x * x
```

```ask
question = "And now?"
choices = [["12", "grad(x) == 12"], ["4", "grad(x) == 4"]]
unseen = true
```

## Do

Words.

```task
do = "Make it 27"
goal = "grad(x) == 27"
```

```python solution
x = param(3.0)
y = x * x * x
y.backward()
```
"""
LESSON = parse_lesson("01_two_uses.md", TEXT)
OWN = "a = param(7.0)\nb = a * 2\n"


class Room:
    """The window with a link that answers every run by the real recorder, when it is told to."""

    def __init__(self, window, link, record):
        self.window, self.link, self.record = window, link, record
        self.learning, self.pane = window.context.lessons, window.lesson_dock.pane

    def run(self):
        while self.window.session.result.run_id:
            self.link.answer(self.record(self.link.sources[-1]))

    @property
    def page(self):
        return self.pane.page()

    @property
    def position(self):
        return self.window.session.view.position

    @property
    def events(self):
        return [e.kind for e in self.window.session.result.tape.events]


@pytest.fixture
def room(window, link, record):
    link.greet()
    window.session.load(Doc(source=OWN, saved=OWN, title="Mine"))
    made = Room(window, link, record)
    made.run()
    window.show()
    made.learning.open(LESSON, "Autograd · 1 of 1")
    made.run()
    return made


def test_a_lesson_brings_its_program_its_place_and_its_selection(room):
    assert room.pane.isVisible()
    assert room.window.editor.toPlainText() == LESSON.steps[0].program
    assert room.position == room.events.index("backward")
    picture = room.window.presenter.picture
    card = next(c for c in picture.cards if c.key == room.window.session.view.selection)
    assert card.name == "y"
    assert room.window.tables.currentWidget() is room.window.ledger
    assert room.page.place == "Autograd · 1 of 1"


def test_what_a_step_selects_is_looked_up_in_its_own_tape(room):
    steps = """## Before
```python
x = param(2.0)
```
## After
```python add
late = x * 3
```
```look
select = "late"
```
"""
    room.learning.open(parse_lesson("01_added.md", TEXT.split("## Look")[0] + steps))
    room.run()
    room.learning.next()
    room.run()
    selected = room.window.session.view.selection
    assert [c.name for c in room.window.presenter.picture.cards if c.key == selected] == ["late"]


def test_leaving_gives_the_own_program_back(room):
    room.learning.next()
    room.learning.leave()
    room.run()
    assert room.window.editor.toPlainText() == OWN
    assert room.window.session.doc.title == "Mine"
    assert not room.pane.isVisible()
    assert room.learning.lesson is None


def test_a_right_answer_plays_the_tape_to_where_it_happens(room, qtbot):
    room.learning.next()
    assert room.position == room.events.index("backward")
    assert room.page.asks
    room.pane.answered.emit("4")
    assert room.page.mood == "good"
    assert "4" in room.page.verdict
    assert "2 + 2" in room.page.why
    assert room.window.clock.playing
    room.window.clock.set_speed(8)
    qtbot.waitUntil(lambda: not room.window.clock.playing)
    assert room.position == len(room.events)


def test_a_wrong_answer_shows_nothing_and_may_be_tried_again(room):
    room.learning.next()
    room.pane.answered.emit("2")
    assert room.page.mood == "bad"
    assert room.page.asks
    assert not room.page.hint
    assert room.position == room.events.index("backward")
    room.pane.answered.emit("3")
    assert "Both uses" in room.page.hint
    room.pane.answered.emit("4.0")
    assert room.page.mood == "good"


def test_an_answer_that_cannot_be_read_is_no_wrong_answer(room):
    room.learning.next()
    room.pane.answered.emit("lots")
    assert room.page.mood == ""
    assert "number" in room.page.verdict


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("2", "<code>x</code>"),
        ("8", "8 is twice too much"),
        ("[4, 4]", "A single number"),
        ("<b>", "Type a number"),
        ("nan", "NaN"),
        ("4 steps", "without <code>steps</code>"),
    ],
)
def test_a_wrong_answer_is_replied_to_with_the_mistake_behind_it(room, typed, part):
    room.learning.next()
    room.pane.field.setFocus()
    room.pane.field.setText(typed)
    room.pane.check.click()
    assert part in room.page.verdict
    assert room.page.asks
    assert "is 4" not in room.page.verdict
    assert room.pane.field.text() == typed


def test_what_cannot_be_read_takes_the_sign_of_the_last_mistake_away(room):
    room.learning.next()
    room.pane.answered.emit("3")
    assert room.page.mood == "bad"
    room.pane.answered.emit("three")
    assert room.page.mood == ""
    assert "digits" in room.page.verdict
    room.pane.answered.emit("4,0")
    assert room.page.mood == "good"


def test_the_mistake_behind_a_prediction_is_said_before_its_answer(room):
    text = TEXT.replace('answer = "grad(x)"\n', 'answer = "grad(x)"\nunseen = true\n', 1)
    room.learning.open(parse_lesson("01_two_uses.md", text), step=1)
    room.run()
    room.pane.answered.emit("2")
    room.run()
    assert room.page.mood == "told"
    assert room.page.verdict == (
        "2 is the share of one use. How often does <code>y</code> use <code>x</code>? It is 4."
    )


def test_the_answer_can_be_shown(room):
    room.learning.next()
    room.pane.reveal_pressed.emit()
    assert room.page.mood == "told"
    assert room.page.said == "4"
    assert not room.page.asks


def test_a_program_that_is_to_be_predicted_runs_only_after_the_answer(room):
    room.learning.next()
    room.learning.next()
    program = LESSON.steps[2].program
    assert room.page.code == program
    assert room.window.editor.toPlainText() == LESSON.steps[1].program
    assert program not in room.link.sources
    room.pane.answered.emit("1")
    assert room.window.editor.toPlainText() == program
    assert not room.page.asks or room.page.waiting
    room.run()
    assert room.page.mood == "told"
    assert room.page.said == "0"
    assert not room.page.code


def test_the_answer_to_an_unseen_program_may_be_shown_too(room):
    room.learning.next()
    room.learning.next()
    room.pane.reveal_pressed.emit()
    room.run()
    assert (room.page.mood, room.page.said) == ("told", "0")
    assert room.position == len(room.events) or room.window.clock.playing


def test_a_task_is_done_when_the_tape_says_so(room):
    for _ in range(3):
        room.learning.next()
    room.run()
    assert room.page.label == "Try it"
    assert room.page.mood == ""
    room.window.session.edit_live("x = param(-3.0)\ny = x * x * x\ny.backward()\n")
    room.run()
    assert room.page.mood == "good"
    assert "Done" in room.page.verdict
    assert not room.page.can_restore


def test_a_task_may_be_to_make_a_mistake(room):
    goal = "error.type == 'TypeError'"
    room.learning.open(parse_lesson("01_two_uses.md", TEXT.replace("grad(x) == 27", goal)), step=3)
    room.run()
    room.window.session.edit_live("x = param(\n")
    room.run()
    assert room.page.mood == ""
    room.window.session.edit_live("x = param(2.0) + 'a'\n")
    room.run()
    assert room.window.session.result.stale
    assert room.page.mood == "good"
    assert not room.page.can_restore


def test_a_solution_can_be_shown(room):
    for _ in range(3):
        room.learning.next()
    room.pane.reveal_pressed.emit()
    room.run()
    assert room.window.editor.toPlainText() == LESSON.steps[3].task.solution
    assert room.page.mood == "good"


def test_the_question_is_asked_of_the_learners_own_program(room):
    room.learning.next()
    room.window.session.edit_live("x = param(5.0)\ny = x * x\ny.backward()\n")
    room.run()
    assert room.page.can_restore
    room.pane.answered.emit("10")
    assert room.page.mood == "good"


def test_a_program_without_the_answer_says_so_and_can_be_put_back(room):
    room.learning.next()
    room.window.session.edit_live("q = param(5.0)\n")
    room.run()
    room.pane.answered.emit("10")
    assert "cannot decide" in room.page.verdict
    assert room.page.asks
    room.pane.restore_pressed.emit()
    room.run()
    assert room.window.editor.toPlainText() == LESSON.steps[1].program
    assert room.position == room.events.index("backward")
    room.pane.answered.emit("4")
    assert room.page.mood == "good"


def test_progress_is_kept(room, tmp_path):
    room.learning.next()
    room.learning.leave()
    room.learning.open(LESSON)
    assert room.learning.number == 1
    for _ in range(3):
        room.learning.next()
    assert room.learning.progress.of("two_uses").done
    room.window.settings.flush()
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.lessons.progress import LessonProgress

    assert LessonProgress(Settings(tmp_path / "s.ini")).of("two_uses").done


def test_another_program_closes_the_lesson(room):
    room.window.context._start_from(examples.load()[2])
    room.run()
    assert room.learning.lesson is None
    assert not room.pane.isVisible()
    room.learning.leave()
    assert room.window.session.doc.title == examples.load()[2].title


def test_what_was_typed_before_a_lesson_outlives_a_closed_window(window, link, record):
    link.greet()
    window.session.load(Doc(source="a = 1\n", saved="", title="Untitled"))
    window.context.lessons.open(LESSON)
    window.session.edit("typed in the lesson")
    window.close()
    assert window.drafts.find("").source == "a = 1\n"


def test_the_end_leads_to_the_list(room, qtbot):
    for _ in range(4):
        room.learning.next()
    (shown,) = room.window.findChildren(LessonList)
    assert len(shown.rows.lessons()) == len(catalogue.load())
    shown.rows.setCurrentItem(shown.rows.lessons()[0])
    with qtbot.waitSignal(shown.chosen):
        qtbot.keyClick(shown.rows, Qt.Key.Key_Return)
    room.run()
    assert room.learning.lesson.name == catalogue.load()[0].name


def test_the_lessons_button_and_the_commands_lead_in(room, qtbot):
    room.window.top.lessons.click()
    (shown,) = room.window.findChildren(LessonList)
    shown.leave()
    learn.leave(room.window.context)
    assert room.learning.lesson is None
    choices = learn.list_lessons(room.window.context)
    choices[0].run(room.window.context)
    assert room.learning.lesson == catalogue.load()[0]
    learn.go_on(room.window.context)
    assert room.learning.number == 1
    learn.go_back(room.window.context)
    assert room.learning.number == 0


def test_a_lesson_of_ones_own_is_opened_from_its_file(room, tmp_path):
    path = tmp_path / "mine.md"
    path.write_text(TEXT.replace("Two uses", "Mine"), encoding="utf-8")
    room.window.answers["open"] = path
    learn.open_file(room.window.context)
    assert room.learning.lesson.title == "Mine"
    assert room.page.place == "Autograd"


def test_back_and_next_stay_in_place_whatever_the_program(room):
    transport = room.window.transport
    looping = next(one for one in catalogue.load() if any("\nfor " in s.program for s in one.steps))
    room.learning.open(looping)
    before = transport.sizeHint().height()
    room.window.session.edit_live(
        "w = param(1.0)\nopt = optim.SGD([w], lr=0.1)\nfor step in range(9):\n"
        "    opt.zero_grad()\n    ((w - 3) ** 2).backward()\n    opt.step()\n"
    )
    room.run()
    assert transport.scrubber.is_zoomed()
    assert transport.sizeHint().height() == before
    room.learning.leave()
    room.run()
    assert transport.sizeHint().height() < before


def test_next_and_check_do_nothing_without_a_lesson(window):
    window.context.lessons.next()
    window.context.lessons.back()
    window.context.lessons.answer("1")
    window.context.lessons.hint()
    window.context.lessons.reveal()
    window.context.lessons.restore()
    window.context.lessons.leave()
    assert window.context.lessons.page() is None


def test_in_a_small_window_the_inspector_takes_turns_with_the_graph(room):
    window = room.window
    window.resize(1000, 640)
    # The first step opens a table, which stands below the inspector.
    assert window.tables.isVisible()
    assert not window.graph.isVisible()
    room.learning.next()
    assert window.graph.isVisible()
    assert not window.inspector.isVisible()
    room.learning.back()
    room.run()
    assert window.inspector.isVisible()
    room.learning.leave()
    assert window.graph.isVisible()
    assert window.inspector.isVisible()
