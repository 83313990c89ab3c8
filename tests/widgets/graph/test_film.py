"""A film's frames: sizes, what is seen in them, and that they show what the tape says."""

import itertools

import numpy as np
import pytest

from gradscribe.app.export.encoders import pixels
from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build
from gradscribe.playback.layout import place
from gradscribe.playback.tape.tempo import VideoFrame, VideoTiming
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import film as graph_film
from gradscribe.widgets.graph.film import (
    CAPTION_HEIGHT,
    MAX_SIZE,
    FilmStyle,
    GraphFilm,
    sample_takes,
)
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.stage import Stage

CHAIN = "a = param(2.0)\nb = a * 3\nb.backward()\n"
LOOP = """\
w = param(1.0)
opt = optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (w * 2) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def film(source, **rest):
    tape = record(source)

    def placed(scene):
        picture = build.build_picture(tape, scene)
        return Stage(tape, picture, place.place(picture))

    return GraphFilm(tape, placed, FilmStyle(Theme.load("light"), **rest))


def share_of(image, color):
    """Return which part of an image is of about that colour."""
    near = np.abs(pixels(image).astype(int) - (color.red(), color.green(), color.blue()))
    return float((near.max(-1) < 12).mean())


@pytest.fixture(scope="module")
def chain(qapp):
    return film(CHAIN)


def test_frames_have_one_even_size(qapp):
    made = film(LOOP)
    tempo = VideoTiming(made.tape.events, 10)
    sizes = {
        image.size().toTuple() for image in (made.frame(one, 300) for one in sample_takes(tempo, 6))
    }
    (size,) = sizes
    assert size[0] % 2 == size[1] % 2 == 0
    assert size[0] <= MAX_SIZE.width()
    assert size[1] <= MAX_SIZE.height() + CAPTION_HEIGHT


def test_a_frame_is_painted_bit_by_bit_as_it_is_at_once(chain, monkeypatch):
    events = len(chain.tape.events)
    wanted = pixels(chain.frame(VideoFrame(events, events), 50))
    painted, paint = [], GraphDrawing.paint_card
    monkeypatch.setattr(
        GraphDrawing, "paint_card", lambda self, *given: painted.append(1) or paint(self, *given)
    )
    monkeypatch.setattr(graph_film, "ITEMS_PER_STEP", 2)
    steps, counts = chain.frame_steps(VideoFrame(events, events), 50), [0]
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made = end.value
            break
        counts.append(len(painted))
    assert counts[-1] > 2
    assert max(b - a for a, b in itertools.pairwise(counts)) <= 2
    assert np.array_equal(pixels(made), wanted)


def test_a_frame_that_is_left_unfinished_leaves_no_painter_open(chain, monkeypatch, qtlog):
    monkeypatch.setattr(graph_film, "ITEMS_PER_STEP", 1)
    steps = chain.frame_steps(VideoFrame(3, 3), 40)
    next(steps)
    steps.close()
    assert not [message for message in qtlog.records if "QPainter" in message.message]


def test_pink_is_there_only_once_gradients_run(chain):
    pink, events = Theme.load("light").backward, len(chain.tape.events)
    first = chain.frame(VideoFrame(0, 0), 0)
    last = chain.frame(VideoFrame(events, events), 50)
    assert share_of(first, pink) == 0
    assert share_of(last, pink) > 0.001


def test_a_token_moves_on_from_frame_to_frame(qapp):
    made = film(CHAIN)
    op = next(n for n, event in enumerate(made.tape.events) if event.kind == "op")
    shown = [made.frame(VideoFrame(op, op + 1, ms, 260), 20) for ms in (20, 60, 100, 140)]
    for one, other in itertools.pairwise(shown):
        assert not np.array_equal(pixels(one), pixels(other))


def test_the_line_below_fills_with_the_tape(chain):
    theme, events = Theme.load("light"), len(chain.tape.events)
    widths = []
    for position in (0, events // 2, events):
        row = pixels(chain.frame(VideoFrame(position, position), 50))[-2].astype(int)
        blank = np.abs(row - (theme.panel.red(), theme.panel.green(), theme.panel.blue()))
        widths.append(int((blank.max(-1) > 8).sum()))
    assert widths[0] == 0 < widths[1] < widths[2] == chain.size.width()


def test_without_gradients_nothing_is_pink_in_the_picture(qapp):
    made = film(CHAIN, layers=Layers(gradients=False))
    events = len(made.tape.events)
    picture = made.frame(VideoFrame(events, events), 50).copy(0, 0, made.size.width(), 200)
    assert share_of(picture, Theme.load("light").backward) == 0


def test_each_step_of_a_loop_is_a_picture_of_its_own(qapp):
    made = film(LOOP)
    tempo = VideoTiming(made.tape.events, 10)
    seen = set()
    for take in tempo.frames():
        made.frame(take, 100)
        seen.add(made._scene.title)
    assert seen == {"Step 1 of 3", "Step 2 of 3", "Step 3 of 3"}


def test_a_graph_too_big_to_read_is_followed(qapp):
    lines = "".join(f"x{n + 1} = x{n} * 1.5 + 0.1\n" for n in range(40))
    made = film("x0 = param(1.0)\n" + lines)
    assert made.size.height() == MAX_SIZE.height() + CAPTION_HEIGHT
    places = set()
    for take in VideoTiming(made.tape.events, 5).frames():
        made.frame(take, 200)
        places.add(round(made._camera.y))
        assert made._camera.zoom > 0.45
    assert len(places) > 5


def test_an_empty_tape_is_an_empty_picture(qapp):
    made = film("")
    assert made.frame(VideoFrame(0, 0), 0).size() == made.size


@pytest.mark.parametrize("size", [(640, 480), (1920, 1080), (1080, 1920)])
def test_a_film_has_the_size_that_was_chosen(qapp, size):
    made = film(CHAIN, size=size)
    events = len(made.tape.events)
    assert made.frame(VideoFrame(events, events), 50).size().toTuple() == size


def test_a_large_film_shows_the_same_larger_and_not_more(qapp):
    theme = Theme.load("light")
    shares = []
    for size in ((1280, 720), (2560, 1440)):
        made = film(CHAIN, size=size)
        events = len(made.tape.events)
        image = made.frame(VideoFrame(events, events), 50)
        shares.append((share_of(image, theme.panel), share_of(image, theme.backward)))
    assert shares[1] == pytest.approx(shares[0], rel=0.1)


def test_a_column_next_to_the_graph_is_painted_for_each_position(qapp):
    class Column:
        width = 200.0
        painted = []

        def paint(self, painter, area, position, shown):
            self.painted.append((position, area.width(), shown.phase))
            painter.fillRect(area, Theme.load("light").error)

    plain, column = film(CHAIN), Column()
    made = GraphFilm(plain.tape, plain._placed, plain.style, aside=column)
    assert made.size.width() == plain.size.width() + 200
    events = len(made.tape.events)
    image = made.frame(VideoFrame(events, events), 50)
    assert column.painted == [(events, 200.0, "backward")]
    part = pixels(image)[: image.height() - CAPTION_HEIGHT]
    error = Theme.load("light").error
    assert (part[:, :198] == (error.red(), error.green(), error.blue())).all()
    graph = pixels(plain.frame(VideoFrame(events, events), 50))[: image.height() - CAPTION_HEIGHT]
    off = np.abs(part[:, 200:].astype(int) - graph.astype(int)).max(axis=-1)
    assert (off < 12).mean() > 0.99, "the graph itself is the same"


def test_a_wide_column_leaves_the_graph_more_than_half(qapp):
    class Column:
        width = 900.0

        def paint(self, painter, area, position, shown):
            assert area.width() <= 0.45 * 640

    plain = film(CHAIN, size=(640, 480))
    made = GraphFilm(plain.tape, plain._placed, plain.style, aside=Column())
    made.frame(VideoFrame(0, 0), 50)


def test_the_line_below_runs_over_the_part_that_is_shown(qapp):
    plain = film(LOOP)
    events = len(plain.tape.events)
    middle = events // 2
    made = GraphFilm(plain.tape, plain._placed, plain.style, span=(middle, events))
    for position, share in ((middle, 0.0), (events, 1.0)):
        row = pixels(made.frame(VideoFrame(position, position), 50))[-2].astype(int)
        panel = made.style.theme.panel
        filled = np.abs(row - (panel.red(), panel.green(), panel.blue())).max(axis=-1) > 40
        assert filled.mean() == pytest.approx(share, abs=0.01)
