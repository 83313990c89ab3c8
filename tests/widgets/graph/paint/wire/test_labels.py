import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from gradscribe.widgets.graph.paint.wire.labels import LabelPlacer, LabelRequest
from gradscribe.widgets.graph.paint.wire.wires import label_width, sample_routes

DOWN = ((0.0, 0.0), (0.0, 30.0), (0.0, 70.0), (0.0, 100.0))


def wish(key="w", words="× 1", kind="gradient", line=None, owner=0):
    return LabelRequest(
        key, words, kind, line if line is not None else sample_routes([DOWN])[0], owner
    )


def place(wishes, taken=(), lines=(), scale=1.0):
    points = np.array([p for line in lines for p in line]).reshape(-1, 2)
    owners = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return LabelPlacer(points, owners).place(wishes, taken, scale)


def overlaps(label, box):
    own = label.box
    return (
        own.left() < box[2]
        and own.right() > box[0]
        and own.top() < box[3]
        and own.bottom() > box[1]
    )


@pytest.fixture(autouse=True)
def _fonts(qapp):
    """Fonts need an application."""


def test_a_free_label_stands_in_the_middle_of_its_wire():
    label = place([wish()])["w"]
    assert (label.x, label.y) == pytest.approx((0, 50), abs=0.5)


def test_a_label_leaves_a_card_in_its_way():
    card = (-80, 35, 80, 65)
    label = place([wish()], [card])["w"]
    assert not overlaps(label, card)
    assert label.x == pytest.approx(0, abs=0.5)


def test_between_two_close_cards_the_label_stands_beside_nothing_it_covers():
    above, below = (-80, -60, 80, 0), (-80, 30, 80, 90)
    line = sample_routes([((0, 0), (0, 10), (0, 20), (0, 30))])[0]
    label = place([wish(line=line)], [above, below])["w"]
    assert not overlaps(label, above)
    assert not overlaps(label, below)


def test_the_label_of_a_running_wire_leaves_room_for_the_token():
    label = place([wish(kind="active")])["w"]
    token = (-11, 39, 11, 61)
    assert not overlaps(label, token)


def test_two_labels_of_neighbouring_wires_do_not_cover_each_other():
    lines = [sample_routes([tuple((x + n * 12, y) for x, y in DOWN)])[0] for n in range(2)]
    wishes = [wish(f"w{n}", "× 2w = 0.414", line=lines[n], owner=n) for n in range(2)]
    placed = place(wishes, lines=lines)
    other = placed["w1"].box
    assert not overlaps(placed["w0"], (other.left(), other.top(), other.right(), other.bottom()))


def test_a_label_does_not_lie_on_a_foreign_wire_where_it_can_help_it():
    own = sample_routes([DOWN])[0]
    across = sample_routes([((-50.0, 50.0), (-20.0, 50.0), (20.0, 50.0), (50.0, 50.0))])[0]
    label = place([wish(line=own)], lines=[own, across])["w"]
    assert abs(label.y - 50) > 9.5


def test_places_do_not_depend_on_what_was_placed_before():
    lines = [sample_routes([tuple((x + n * 14, y) for x, y in DOWN)])[0] for n in range(4)]
    wishes = [wish(f"w{n}", "× 1 → 0.2071", line=lines[n], owner=n) for n in range(4)]
    points = np.array([p for line in lines for p in line])
    placer = LabelPlacer(points, np.repeat(np.arange(4), [len(line) for line in lines]))
    placer.place(wishes[2:], [])
    placer.place(wishes[:1], [(-5, 0, 5, 100)])
    assert placer.place(wishes, []) == place(wishes, lines=lines)


def test_far_labels_are_larger():
    near, far = place([wish()])["w"], place([wish()], scale=1.25)["w"]
    assert far.box.width() == pytest.approx(near.box.width() * 1.25)
    assert far.box.height() == pytest.approx(near.box.height() * 1.25)


def test_the_pill_is_as_wide_as_its_words():
    assert label_width("× (1−o²) = 0.500", "gradient") > label_width("× 1", "gradient")
    assert place([wish()])["w"].width == label_width("× 1", "gradient")


def test_between_cards_in_a_row_a_wide_label_goes_over_or_under_them():
    left, right = (-164, -29, 0, 29), (70, -29, 234, 29)
    line = sample_routes([((0.0, 0.0), (30.0, 0.0), (40.0, 0.0), (70.0, 0.0))])[0]
    label = place([wish(words="× (1−o²) = 0.500", line=line)], [left, right])["w"]
    assert not overlaps(label, left)
    assert not overlaps(label, right)
    assert abs(label.y) < 60


@given(
    st.lists(
        st.tuples(st.floats(-200, 200), st.floats(-200, 200), st.floats(1, 90), st.floats(1, 90)),
        max_size=6,
    )
)
def test_every_wish_gets_a_place_near_its_wire(boxes):
    taken = [(x, y, x + width, y + height) for x, y, width, height in boxes]
    label = place([wish()], taken)["w"]
    assert abs(label.x) <= label.width / 2 + 8
    assert -1 <= label.y <= 101


def test_a_label_rather_touches_a_card_than_leaves_the_picture():
    beside = [(-60, -10, -6, 110), (6, -10, 60, 110)]  # a narrow lane between two cards
    given = [wish(words="× (1−o²) = 0.500")]
    far = place(given, beside)["w"]
    bounds = (-60.0, -10.0, 60.0, 110.0)
    line = sample_routes([DOWN])[0]
    owners = np.zeros(len(line), dtype=np.intp)
    kept = LabelPlacer(np.array(line), owners, bounds).place(given, beside)["w"].box
    assert far.box.width() > 60
    assert kept.left() >= bounds[0] - 20
    assert kept.right() <= bounds[2] + 20
    assert kept.top() >= bounds[1] - 20
    assert kept.bottom() <= bounds[3] + 20


def test_seen_from_afar_a_label_without_room_is_left_out():
    walls = [(-400, -60, 400, 12), (-400, 18, 400, 90)]
    line = sample_routes([((0, 12), (0, 14), (0, 16), (0, 18))])[0]
    assert place([wish(line=line)], walls, scale=1.35) == {}
    assert list(place([wish(line=line)], walls)) == ["w"]


def test_seen_from_afar_a_label_stays_near_its_wire():
    level = sample_routes([((0, 0), (100, 0), (200, 0), (300, 0))])[0]
    row = [(x, -12, x + 60, 12) for x in range(-40, 340, 62)]
    for label in place([wish(line=level)], row, scale=1.35).values():
        assert abs(label.y) < 40


@pytest.mark.parametrize("scale", [1.0, 1.25])
@pytest.mark.parametrize("words", ["× 1", "× −0.5 → −0.5", "2 shares"])
def test_a_label_leaves_the_arrow_head_of_its_wire_in_sight(qapp, words, scale):
    for length in range(30, 200, 10):
        line = [(100.0, 0.0), (100.0, float(length))]
        wish = LabelRequest("w", words, "gradient", line, 0)
        points, owners = np.array(line), np.zeros(2, dtype=np.intp)
        cards = [(0.0, -60.0, 200.0, 0.0), (0.0, length, 200.0, length + 60.0)]
        placed = LabelPlacer(points, owners).place([wish], cards, scale)
        head = QRectF(97, length - 7, 6, 7)
        assert all(not label.box.intersects(head) for label in placed.values())
