"""An exercise takes the place of the user's own program and gives it back."""

from gradscribe.app.by_hand.exercise_run import ExerciseRun
from gradscribe.app.document.state import Doc


class Desk:
    """As much of a session as exercises touch."""

    def __init__(self):
        self.doc = Doc(source="own", title="Mine")
        self.stored, self.restored = 0, []

    def load(self, doc):
        self.doc = doc

    def snapshot(self):
        self.stored += 1
        return self.doc


def test_exercises_follow_each_other_and_the_own_program_is_stored_once():
    desk, seeds = Desk(), iter((3, 4))
    exercises = ExerciseRun(desk, desk.snapshot, desk.restored.append, lambda: next(seeds))
    first = exercises.begin(2)
    assert exercises.is_open
    assert exercises.asked == first.asked
    assert desk.doc.source == first.source
    second = exercises.begin(2)
    assert second.source != first.source
    assert desk.stored == 1
    exercises.leave()
    assert [doc.source for doc in desk.restored] == ["own"]
    assert not exercises.is_open


def test_another_document_ends_the_exercise():
    desk = Desk()
    exercises = ExerciseRun(desk, desk.snapshot, desk.restored.append)
    exercises.begin(1)
    exercises.notice()
    assert exercises.is_open
    desk.load(Doc(source="other", title="Other"))
    exercises.notice()
    assert not exercises.is_open
    exercises.leave()
    assert desk.restored == []
