import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.transport import track_layout

PHASES = ("Forward", "Loss", "Backward", "Update")


def train(passes, sizes=(30, 1, 40, 9)):
    segments, at = [], 0
    for _ in range(passes):
        for phase, size in zip(PHASES, sizes, strict=True):
            segments.append(Segment(phase, at, at + size))
            at += size
    return tuple(segments)


def lengths(counts):
    segments, at = [], 0
    for number, count in enumerate(counts):
        segments.append(Segment(PHASES[number % 4], at, at + count))
        at += count
    return tuple(segments)


def test_every_pass_of_a_training_loop_is_one_stretch():
    groups = track_layout.cut_at_forward(train(250))
    assert len(groups) == 250
    assert [(g.start, g.stop) for g in groups[:2]] == [(0, 80), (80, 160)]
    assert all([s.phase for s in group.segments] == list(PHASES) for group in groups)


def test_zeroing_gradients_before_the_first_forward_pass_makes_no_stretch_of_its_own():
    before = (Segment("Forward", 0, 4), Segment("Update", 4, 5))
    loop = tuple(Segment(s.phase, s.start + 5, s.stop + 5) for s in train(3))
    assert len(track_layout.cut_at_forward((*before, *loop))) == 3


def test_two_backward_passes_without_a_forward_between_them_stay_together():
    segments = lengths([5, 1, 4])
    more = (*segments, Segment("Backward", 10, 14))
    assert len(track_layout.cut_at_forward(more)) == 1


def test_no_segments_make_no_stretches_and_no_spans():
    assert track_layout.cut_at_forward(()) == ()
    assert track_layout.cut_at((), (0, 4)) == ()
    assert track_layout.layout_segments((), 500) == ()
    assert track_layout.position_at((), 12.0) == 0


def test_scenes_cut_the_segments_they_fall_into():
    scenes = track_layout.cut_at(lengths([10, 10]), (0, 5, 15))
    assert [(s.start, s.stop) for s in scenes] == [(0, 5), (5, 15), (15, 20)]
    assert [[(s.start, s.stop) for s in scene.segments] for scene in scenes] == [
        [(0, 5)],
        [(5, 10), (10, 15)],
        [(15, 20)],
    ]


@pytest.mark.parametrize(("position", "index"), [(0, 0), (1, 0), (80, 0), (81, 1), (160, 1)])
def test_a_position_belongs_to_the_stretch_of_the_event_before_it(position, index):
    assert track_layout.section_at(track_layout.cut_at_forward(train(2)), position) == index


def test_widths_go_by_events_but_a_short_loss_is_still_seen():
    forward, loss, backward, update = track_layout.layout_segments(train(1), 1000)
    assert loss.right - loss.left == pytest.approx(48)
    assert (backward.right - backward.left) / (forward.right - forward.left) == pytest.approx(4 / 3)
    assert update.right == pytest.approx(1000)
    assert update.right - update.left >= 48


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=60), st.floats(50, 3000))
def test_spans_fill_the_strip_in_order_without_overlap(counts, width):
    placed = track_layout.layout_segments(lengths(counts), width)
    assert placed[0].left == 0
    assert placed[-1].right <= width + 0.01
    assert all(a.right <= b.left + 1e-6 for a, b in itertools.pairwise(placed))
    assert all(span.right >= span.left for span in placed)
    if len(counts) * 52 < width:
        assert all(span.right - span.left >= 47.99 for span in placed)
        assert placed[-1].right == pytest.approx(width)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_pointing_at_a_position_finds_it_again(counts):
    placed = track_layout.layout_segments(lengths(counts), 4000)
    for span in placed:
        for position in range(span.start + 1, span.stop + 1):
            assert track_layout.position_at(placed, span.x_at(position)) == position


def test_pointing_beside_the_strip_finds_its_ends():
    placed = track_layout.layout_segments(lengths([5, 5]), 400)
    assert track_layout.position_at(placed, -50) == 0
    assert track_layout.position_at(placed, 5000) == 10
