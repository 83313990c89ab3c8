"""Pictures: small ones at once, big ones beside the interface, late ones never."""

import threading

import pytest
from PySide6.QtCore import QElapsedTimer, QObject, QThreadPool
from shiboken6 import isValid

from gradscribe.app.document import scene_builder
from gradscribe.app.document.scene_builder import SceneBuilder, layout_key
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build, look
from gradscribe.playback.tape import scenes
from gradscribe.widgets.base.single_shot import single_shot

LOOP = """
w = param(1.0)
for i in range(3):
    loss = (w * {factor} - 3) ** 2
    loss.backward()
"""


@pytest.fixture
def pictures(qtbot):
    made = SceneBuilder()
    made.got = []
    made.built.connect(lambda stage: made.got.append((stage.picture, stage.placement)))
    yield made
    made.close()


@pytest.fixture(scope="module")
def loop(record):
    return record(LOOP.format(factor="2.0"))


def scene_of(tape, at=0):
    return scenes.scenes(tape)[at]


def test_a_small_picture_is_there_at_once(pictures, loop):
    pictures.request(loop, scene_of(loop), None, 1)
    ((picture, placement),) = pictures.got
    assert {card.key for card in picture.cards} == set(placement.cards)
    assert not pictures.busy


def test_a_picture_that_was_made_is_kept(pictures, loop, monkeypatch):
    for at in (0, 1, 0):
        pictures.request(loop, scene_of(loop, at), None, 1)
    assert pictures.got[0][0] is pictures.got[2][0]


def test_a_picture_of_the_same_form_takes_the_same_place(pictures, loop, record):
    other = record(LOOP.format(factor="5.0"))
    pictures.request(loop, scene_of(loop), None, 1)
    pictures.request(other, scene_of(other), None, 2)
    assert pictures.got[0][1] is pictures.got[1][1]
    assert pictures.got[0][0] is not pictures.got[1][0]


def test_the_same_picture_flowing_elsewhere_takes_another_place(pictures, loop):
    for run, flow in ((1, "down"), (1, "right"), (2, "right"), (1, "down")):
        pictures.request(loop, scene_of(loop), None, run, 0, flow)
    down, right, again, back = (placement for _, placement in pictures.got)
    assert down.width == pytest.approx(back.width)
    assert right is again
    assert (right.width, right.height) != (down.width, down.height)


def test_forgotten_pictures_are_made_anew(pictures, loop):
    pictures.request(loop, scene_of(loop), None, 1)
    pictures.forget()
    pictures.request(loop, scene_of(loop), None, 1)
    assert pictures.got[0][0] is not pictures.got[1][0]


def test_a_big_picture_is_made_beside_the_interface(pictures, loop, monkeypatch, qtbot):
    monkeypatch.setattr(scene_builder, "INLINE_CARDS", 1)
    pictures.request(loop, scene_of(loop), None, 1)
    assert pictures.got == []
    assert pictures.busy
    qtbot.waitUntil(lambda: len(pictures.got) == 1)
    assert not pictures.busy


def test_a_picture_of_few_ops_with_many_inputs_is_made_beside_the_interface(
    pictures, record, qtbot
):
    many = record("x = param(1.0)\ny = torch.stack([x] * 2000)")
    pictures.request(many, scene_of(many), None, 1)
    assert pictures.got == []
    qtbot.waitUntil(lambda: len(pictures.got) == 1)


def test_the_turn_that_asks_for_a_big_picture_ends_before_it_is_begun(
    pictures, loop, monkeypatch, qtbot
):
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    built = []
    make = build.build_picture
    monkeypatch.setattr(
        scene_builder.build,
        "build_picture",
        lambda *given: built.append(given[1].start) or make(*given),
    )
    pictures.request(loop, scene_of(loop), None, 1)
    pictures.findChild(QThreadPool).waitForDone()
    assert built == []
    qtbot.waitUntil(lambda: len(pictures.got) == 1)
    assert built == [0]


def test_a_turn_may_be_long_and_still_ends_before_its_big_picture_is_begun(
    pictures, loop, monkeypatch, qtbot
):
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    order, make = [], build.build_picture
    monkeypatch.setattr(
        scene_builder.build, "build_picture", lambda *given: order.append("begun") or make(*given)
    )
    repaint = single_shot(pictures, lambda: order.append("repaint"), 5)
    pictures.request(loop, scene_of(loop), None, 1)
    since = QElapsedTimer()
    since.start()
    while not since.hasExpired(2 * pictures._begin.interval()):
        pass
    repaint.start()
    qtbot.waitUntil(lambda: len(order) == 2)
    assert order == ["repaint", "begun"]


def test_a_big_picture_that_is_not_begun_makes_room_for_a_small_one(pictures, loop, monkeypatch):
    with monkeypatch.context() as context:
        context.setattr(scene_builder, "INLINE_OPS", -1)
        pictures.request(loop, scene_of(loop), None, 1)
    pictures.request(loop, scene_of(loop, 1), None, 1)
    assert [picture for picture, _ in pictures.got] == [
        build.build_picture(loop, scene_of(loop, 1))
    ]
    assert not pictures.busy
    assert not pictures._begin.isActive()


def test_only_the_newest_of_many_big_pictures_arrives(pictures, loop, monkeypatch, qtbot):
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    for run in range(1, 8):
        pictures.request(loop, scene_of(loop, run % 3), None, run)
    qtbot.waitUntil(lambda: not pictures.busy)
    assert len(pictures.got) == 1


def test_a_picture_made_beside_the_interface_looks_as_one_made_at_once(
    pictures, loop, monkeypatch, qtbot
):
    scene = scene_of(loop, 1)
    pictures.request(loop, scene, None, 1, scene.stop)
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    pictures.forget()
    pictures.request(loop, scene, None, 1, scene.stop)
    qtbot.waitUntil(lambda: len(pictures.got) == 2)
    (here, place), (aside, same_place) = pictures.got
    assert here == aside
    assert place == same_place
    for position in range(scene.start, scene.stop + 1):
        assert look.look_at(loop, here, scene, position) == look.look_at(
            loop, aside, scene, position
        )


def test_closing_drops_what_is_under_way(pictures, loop, monkeypatch):
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    pictures.request(loop, scene_of(loop), None, 1)
    pictures.close()
    assert pictures.got == []


def test_what_is_let_go_of_is_waited_for_by_nobody(qtbot, loop, monkeypatch):
    goes_on, began = threading.Event(), threading.Event()

    def place(*_):
        began.set()
        goes_on.wait()
        raise scene_builder.place.Cancelled

    monkeypatch.setattr(scene_builder.place, "place", place)
    asker = QObject()
    made = SceneBuilder(asker, aside=True)
    made.request(loop, scene_of(loop), None, 1)
    qtbot.waitUntil(began.is_set)
    worker = made.findChild(BackgroundWorker)
    made.close_later()
    asker.deleteLater()
    qtbot.waitUntil(lambda: not isValid(asker))
    assert worker.is_running
    goes_on.set()
    qtbot.waitUntil(lambda: not isValid(worker))


def test_an_internal_error_is_reported_and_ends_the_wait(pictures, loop, monkeypatch, qtbot):
    monkeypatch.setattr(scene_builder, "INLINE_CARDS", 1)

    def fail(*_):
        raise ValueError("an internal error")

    monkeypatch.setattr(scene_builder.place, "place", fail)
    with qtbot.captureExceptions() as faults:
        pictures.request(loop, scene_of(loop), None, 1)
        assert pictures.busy
        qtbot.waitUntil(lambda: not pictures.busy)
    assert [kind for kind, _, _ in faults] == [ValueError]
    assert pictures.got == []


def test_an_empty_tape_has_an_empty_picture(pictures):
    tape = Tape()
    pictures.request(tape, scene_of(tape), None, 1)
    assert pictures.got[0][0].cards == ()


def test_the_form_leaves_values_out(loop, record):
    other = record(LOOP.format(factor="7.5"))
    first, second = (build.build_picture(tape, scene_of(tape)) for tape in (loop, other))
    assert layout_key(first) == layout_key(second)
    assert first != second


def test_after_an_edit_what_was_there_keeps_its_order(pictures, record, monkeypatch):
    seen = []
    place = scene_builder.place.place
    monkeypatch.setattr(
        scene_builder.place,
        "place",
        lambda picture, flow, previous=None: seen.append(previous) or place(picture, flow),
    )
    first, other = record(LOOP.format(factor="2.0")), record("x = param(1.0)\n(x * 2).backward()")
    pictures.request(first, scene_of(first), None, 1)
    pictures.request(other, scene_of(other), None, 2)
    pictures.request(other, scene_of(other), None, 3, 0, "right")
    pictures.reset_layout()
    pictures.request(first, scene_of(first), None, 4, 0, "right")
    assert seen == [None, pictures.got[0], None, None]
