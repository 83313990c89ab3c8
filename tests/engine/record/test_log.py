"""Events are appended in order; past the limit the log says that it stops, once."""

from engine.record.log import Log


def test_ids_are_drawn_from_one_counter():
    log = Log(10)
    assert [next(log.ids), next(log.ids)] == [1, 2]


def test_the_limit_is_told_in_words_with_its_number():
    log = Log(3)
    for _ in range(2):
        log.tell("leaf", 0, None)
    assert log.truncated == ""
    log.tell("leaf", 0, None)
    assert "3 events" in log.truncated
    assert len(log.events) == 3
