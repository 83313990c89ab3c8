"""A film's frames: sizes, what is seen in them, and that they show what the tape says."""

import itertools

import numpy as np
import pytest

from app.film_files import pixels
from engine.run import record
from playback import graph, layout
from playback.tempo import Take, Tempo
from widgets import graph_film
from widgets.graph_film import LARGEST, LINE, Film, Style, sampled
from widgets.paint.cards import Layers
from widgets.paint.drawing import Drawing
from widgets.paint.stage import Stage
from widgets.theme import Theme

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
        picture = graph.build(tape, scene)
        return Stage(tape, picture, layout.place(picture))

    return Film(tape, placed, Style(Theme.load("light"), **rest))


def share_of(image, color):
    """Return which part of an image is of about that colour."""
    near = np.abs(pixels(image).astype(int) - (color.red(), color.green(), color.blue()))
    return float((near.max(-1) < 12).mean())


@pytest.fixture(scope="module")
def chain(qapp):
    return film(CHAIN)


def test_frames_have_one_even_size(qapp):
    made = film(LOOP)
    tempo = Tempo(made.tape.events, 10)
    sizes = {
        image.size().toTuple() for image in (made.frame(one, 300) for one in sampled(tempo, 6))
    }
    (size,) = sizes
    assert size[0] % 2 == size[1] % 2 == 0
    assert size[0] <= LARGEST.width()
    assert size[1] <= LARGEST.height() + LINE


def test_a_frame_is_painted_bit_by_bit_as_it_is_at_once(chain, monkeypatch):
    events = len(chain.tape.events)
    wanted = pixels(chain.frame(Take(events, events), 50))
    painted, paint = [], Drawing.paint_card
    monkeypatch.setattr(
        Drawing, "paint_card", lambda self, *given: painted.append(1) or paint(self, *given)
    )
    monkeypatch.setattr(graph_film, "BIT", 2)
    steps, counts = chain.painting(Take(events, events), 50), [0]
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


def test_pink_is_there_only_once_gradients_run(chain):
    pink, events = Theme.load("light").backward, len(chain.tape.events)
    first = chain.frame(Take(0, 0), 0)
    last = chain.frame(Take(events, events), 50)
    assert share_of(first, pink) == 0
    assert share_of(last, pink) > 0.001


def test_a_token_moves_on_from_frame_to_frame(qapp):
    made = film(CHAIN)
    op = next(n for n, event in enumerate(made.tape.events) if event.kind == "op")
    shown = [made.frame(Take(op, op + 1, ms, 260), 20) for ms in (20, 60, 100, 140)]
    for one, other in itertools.pairwise(shown):
        assert not np.array_equal(pixels(one), pixels(other))


def test_the_line_below_fills_with_the_tape(chain):
    theme, events = Theme.load("light"), len(chain.tape.events)
    widths = []
    for position in (0, events // 2, events):
        row = pixels(chain.frame(Take(position, position), 50))[-2].astype(int)
        blank = np.abs(row - (theme.panel.red(), theme.panel.green(), theme.panel.blue()))
        widths.append(int((blank.max(-1) > 8).sum()))
    assert widths[0] == 0 < widths[1] < widths[2] == chain.size.width()


def test_without_gradients_nothing_is_pink_in_the_picture(qapp):
    made = film(CHAIN, layers=Layers(gradients=False))
    events = len(made.tape.events)
    picture = made.frame(Take(events, events), 50).copy(0, 0, made.size.width(), 200)
    assert share_of(picture, Theme.load("light").backward) == 0


def test_each_step_of_a_loop_is_a_picture_of_its_own(qapp):
    made = film(LOOP)
    tempo = Tempo(made.tape.events, 10)
    seen = set()
    for take in tempo.takes():
        made.frame(take, 100)
        seen.add(made._scene.title)
    assert seen == {"Step 1 of 3", "Step 2 of 3", "Step 3 of 3"}


def test_a_graph_too_big_to_read_is_followed(qapp):
    lines = "".join(f"x{n + 1} = x{n} * 1.5 + 0.1\n" for n in range(40))
    made = film("x0 = param(1.0)\n" + lines)
    assert made.size.height() == LARGEST.height() + LINE
    places = set()
    for take in Tempo(made.tape.events, 5).takes():
        made.frame(take, 200)
        places.add(round(made._camera.y))
        assert made._camera.zoom > 0.45
    assert len(places) > 5


def test_an_empty_tape_is_an_empty_picture(qapp):
    made = film("")
    assert made.frame(Take(0, 0), 0).size() == made.size
