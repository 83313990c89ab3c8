"""Collectives of several ranks, joined by group and number."""

from gradscribe.engine.protocol.ranks.join import join
from gradscribe.engine.protocol.tape import Collective, Place, Tape
from gradscribe.playback.ranks import table


def _call(kind, number, group=(0, 1), line=1, **more):
    return Collective(kind, group, number, Place(line, 0, line, 5), **more)


def _ranks(*calls):
    return [Tape(collectives=tuple(some)) for some in calls]


def test_calls_of_one_number_belong_together():
    found = join(
        _ranks(
            [_call("all_reduce", 0), _call("barrier", 1)],
            [_call("all_reduce", 0), _call("barrier", 1)],
        )
    )
    assert [(one.kind, sorted(one.calls)) for one in found] == [
        ("all_reduce", [0, 1]),
        ("barrier", [0, 1]),
    ]
    assert all(one.is_done for one in found)


def test_groups_and_those_of_ddp_are_counted_by_themselves():
    ddp = _call("all_reduce", 0, owner="ddp")
    one = [_call("all_reduce", 0), ddp, _call("all_reduce", 0, (0,))]
    other = [_call("all_reduce", 0), ddp]
    found = join(_ranks(one, other))
    assert [(item.group, item.first.owner) for item in found] == [
        ((0, 1), ""),
        ((0, 1), "ddp"),
        ((0,), ""),
    ]
    assert all(item.is_done for item in found)


def test_a_rank_that_never_came_is_named():
    (found,) = join(_ranks([_call("all_reduce", 0, is_done=False, line=7)], []))
    assert (found.missing, found.is_done) == ((1,), False)
    assert table.trouble(found) == "never reached by rank 1"


def test_calls_that_differ_are_both_named():
    (found,) = join(_ranks([_call("all_reduce", 0)], [_call("broadcast", 0, root=0)]))
    assert found.kind == "all_reduce / broadcast"
    assert table.trouble(found) == "they differ"


def test_a_message_and_its_receipt_are_one():
    (found,) = join(_ranks([_call("send", 0, root=1)], [_call("recv", 0, root=0)]))
    assert (found.is_message, found.is_done, table.name(found)) == (True, True, "send 0 → 1")


def test_ranks_in_another_order_of_groups_still_join():
    left = [_call("barrier", 0, (0, 1)), _call("barrier", 0, (0,))]
    right = [_call("barrier", 0, (0, 1)), _call("barrier", 1, (0, 1))]
    assert [one.number for one in join(_ranks(left, right))] == [0, 0, 1]


def test_calls_that_wait_for_each_other_do_not_stop_the_join():
    left = [_call("send", 0, (0, 1)), _call("recv", 0, (1, 0))]
    right = [_call("send", 0, (1, 0)), _call("recv", 0, (0, 1))]
    assert {one.group for one in join(_ranks(left, right))} == {(0, 1), (1, 0)}


def test_ranks_without_collectives_are_said():
    assert table.collectives_text(_ranks([], [])).startswith("no collective")
