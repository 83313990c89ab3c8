"""Options of films on the command line: read back from the file, or refused in words."""

import av
import pytest
from PIL import Image

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.exit_codes import RAN, REFUSED
from gradscribe.app.export.encoders import FPS
from gradscribe.engine.run.run import record
from gradscribe.playback.tape.tempo import BEGIN_MS, END_MS, duration

pytestmark = pytest.mark.e2e

LOOP = """\
w = param(1.0)
opt = optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (w * 2) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.py").write_text(LOOP)

    def run(*options):
        code = command_line.main(["record", "loop.py", *options])
        return code, capsys.readouterr().err

    return run


def expected_ms(first, stop, speed):
    """Return how long a film of a part lasts, by the durations of its events."""
    events = record(LOOP).events[first:stop]
    return BEGIN_MS + END_MS + sum(duration(event.kind, speed) for event in events)


def starts():
    """Return the event after which each step of the loop has begun, by the optimizer's steps."""
    events = record(LOOP).events
    ends = [at + 1 for at, event in enumerate(events) if event.kind == "step"]
    return [0, *ends[:-1], len(events)]


def test_a_video_has_size_speed_and_part(run, tmp_path, qapp):
    code, _ = run("--mp4", "a.mp4", "--size", "640x360", "--speed", "4", "--events", "5-12")
    assert code == RAN
    with av.open(str(tmp_path / "a.mp4")) as film:
        (stream,) = film.streams.video
        assert (stream.width, stream.height) == (640, 360)
        wanted = expected_ms(5, 12, 4.0) * FPS["mp4"] / 1000
        assert stream.frames == pytest.approx(wanted, abs=1)


def test_a_gif_of_one_step_with_the_program(run, tmp_path, qapp):
    code, _ = run("--gif", "a.gif", "--steps", "2-2", "--code", "--speed", "8")
    assert code == RAN
    first, stop = starts()[1:3]
    with Image.open(tmp_path / "a.gif") as film:
        lasted = 0
        for number in range(film.n_frames):
            film.seek(number)
            lasted += film.info["duration"]
    assert lasted == pytest.approx(expected_ms(first, stop, 8.0), abs=60)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--size", "640x480"), "--size goes with --gif or --mp4"),
        (("--code",), "--code goes with"),
        (("--gif", "a.gif", "--size", "641x480"), "even sides"),
        (("--gif", "a.gif", "--size", "huge"), "no size"),
        (("--gif", "a.gif", "--speed", "0"), "--speed is 0.25 to 8"),
        (("--gif", "a.gif", "--speed", "nan"), "--speed is 0.25 to 8"),
        (("--gif", "a.gif", "--events", "9-3"), "after its end"),
        (("--gif", "a.gif", "--events", "x"), "no range"),
        (("--gif", "a.gif", "--events", "0-100000"), "no event 100,000"),
        (("--gif", "a.gif", "--events", "100000-"), "begin at event 100,000"),
        (("--gif", "a.gif", "--steps", "2-9"), "no step 9: the tape has 3"),
        (("--gif", "gone/a.gif"), "its folder does not exist"),
    ],
)
def test_what_no_film_can_be_is_refused_and_nothing_is_written(run, tmp_path, options, words):
    code, said = run(*options, "--json", "tape.json")
    assert code == REFUSED
    assert words in said
    assert [path.name for path in tmp_path.iterdir()] == ["loop.py"]
