"""Every example has a small picture of its own graph."""

import pytest

from gradscribe.app.document import example_pictures, examples
from gradscribe.engine.run.run import record


@pytest.mark.parametrize("example", examples.load(), ids=lambda e: e.name)
def test_the_stored_picture_is_that_of_the_program(example):
    tape = record(example.source)
    stored = example_pictures.load()[example.name]
    assert stored == example_pictures.picture_of(tape), "make docs writes the pictures again"
    for _, x, y, width, height in stored.boxes:
        assert 0 <= x <= x + width <= stored.width + 1
        assert 0 <= y <= y + height <= stored.height + 1
    assert stored.lines
    assert all(len(line) % 2 == 0 and len(line) >= 4 for line in stored.lines)


def test_there_is_no_picture_of_anything_else():
    assert set(example_pictures.load()) == {example.name for example in examples.load()}
