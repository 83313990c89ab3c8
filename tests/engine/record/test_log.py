"""Events are appended in order; past the limit the log says so, once. Prints count apart."""

from gradscribe.engine.record.log import Log


def test_ids_are_drawn_from_one_counter():
    log = Log(10)
    assert [next(log.ids), next(log.ids)] == [1, 2]


def test_the_limit_is_told_in_words_with_its_number():
    log = Log(3)
    for _ in range(2):
        log.add_event("leaf", 0, None)
    assert log.truncated == ""
    log.add_event("leaf", 0, None)
    assert "3 events" in log.truncated
    assert len(log.events) == 3


def test_printed_lines_count_apart_from_the_events():
    log = Log(8)
    for _ in range(2):
        log.print("line", None)
    for _ in range(7):
        log.add_event("leaf", 0, None)
    assert log.truncated == log.describe_omissions() == ""
    log.add_event("leaf", 0, None)
    assert "8 events" in log.truncated
    assert [e.kind for e in log.events].count("print") == len(log.prints) == log.print_limit


def test_lines_that_are_left_out_are_counted_in_words():
    log = Log(8)
    log.print("line", None)
    log.omitted_prints = 1
    assert log.describe_omissions().startswith("1 printed line only in the output")
    log.truncated, log.omitted_prints = "Recording stopped.", 90_000
    assert log.describe_omissions().startswith(
        "Recording stopped. 90,000 printed lines only in the output"
    )
    assert log.describe_omissions().endswith("the first 1.")
