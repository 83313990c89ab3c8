"""A film on its way into a file: whole, or not there at all."""

import errno
import subprocess
import sys
import threading
from itertools import groupby

import av
import msgspec
import numpy as np
import pytest
from PIL import Image

from gradscribe.app.export import encoders, film_job
from gradscribe.app.export.encoders import FPS, pixels
from gradscribe.app.export.film_job import FilmJob
from gradscribe.app.export.film_options import FilmOptions
from gradscribe.app.export.queue import WAITING
from gradscribe.app.files import atomic
from gradscribe.app.files.documents import Refused
from gradscribe.playback.graph import build, look
from gradscribe.playback.layout import place as layout_place
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.tempo import BEGIN_MS, END_MS, duration
from gradscribe.widgets.graph.view import GraphView
from tests.app import films

SHADE = 16
"""Largest difference, of 255, between two colours that count as the same."""


@pytest.fixture
def job(qapp, tmp_path):
    return FilmJob(tmp_path / "film.gif", films.tape(), films.style())


def test_every_frame_is_told_and_the_file_is_there_only_at_the_end(job):
    done = []
    for frames in job.steps():
        done.append(frames)
        assert max(done) == len(job) or not job.path.exists()
    assert max(done) == len(job)
    assert [n for n, _ in groupby(done) if n > 0] == list(range(1, len(job) + 1))
    with Image.open(job.path) as film:
        lasted = 0
        for number in range(film.n_frames):
            film.seek(number)
            lasted += film.info["duration"]
    whole = BEGIN_MS + END_MS + sum(duration(e.kind, 1.0) for e in films.tape().events)
    assert lasted == pytest.approx(whole, abs=50)


def test_the_first_frame_is_the_picture_before_anything_happened(job, qtbot):
    for _ in job.steps():
        pass
    tape = films.tape()
    (scene,) = scenes.scenes(tape)
    picture = build.build_picture(tape, scene)
    view = GraphView()
    qtbot.addWidget(view)
    with Image.open(job.path) as film:
        view.resize(film.width, film.height - 44)
        view.set_scene(tape, picture, layout_place.place(picture), animate=False)
        view.set_look(look.look_at(tape, picture, scene, 0))
        shown = np.asarray(film.convert("RGB"), dtype=int)[: view.height()]
    seen = pixels(view.grab().toImage()).astype(int)
    inner = np.s_[12:-12, 12:-12]  # the view has a rim
    # A GIF has 255 colours, so each may be a shade off; a picture out of place would be more.
    off = np.abs(shown[inner] - seen[inner]).max(axis=-1)
    assert (off < SHADE).mean() > 0.995


def test_giving_up_half_way_leaves_nothing(job):
    steps = job.steps()
    for done in steps:
        if done > len(job) // 2:
            break
    steps.close()
    assert list(job.path.parent.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(job, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "_fill", full)
    with pytest.raises(Refused, match="the disk is full"):
        for _ in job.steps():
            pass
    assert list(job.path.parent.iterdir()) == []


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(job):
    job.path.write_bytes(b"before")
    steps = job.steps()
    next(steps)
    steps.close()
    assert job.path.read_bytes() == b"before"


@pytest.mark.parametrize("name", ["film.avi", "film", "gone/film.gif"])
def test_what_cannot_be_written_is_refused_before_the_work(qapp, tmp_path, name):
    with pytest.raises(Refused):
        FilmJob(tmp_path / name, films.tape(), films.style())


def test_a_film_flows_as_the_graph_on_the_screen(tmp_path, qapp):
    sizes = []
    for flow in ("down", "right"):
        style = msgspec.structs.replace(films.style(), flow=flow)
        job = FilmJob(tmp_path / f"{flow}.gif", films.tape(), style)
        for _ in job.steps():
            pass
        with Image.open(job.path) as film:
            sizes.append(film.width / film.height)
    assert sizes[0] < sizes[1]


def test_pictures_are_placed_on_a_thread_of_their_own(qapp, tmp_path, monkeypatch):
    go_on, threads = threading.Event(), []
    place = layout_place.place

    def held(picture, flow, late):
        threads.append(threading.get_ident())
        assert go_on.wait(30)
        return place(picture, flow, late)

    monkeypatch.setattr(layout_place, "place", held)
    job = FilmJob(tmp_path / "film.gif", films.tape(), films.style())
    steps = job.steps()
    assert [next(steps) for _ in range(50)] == [WAITING] * 50
    go_on.set()
    done = [n for n, _ in groupby(steps) if n > 0]
    assert done == list(range(1, len(job) + 1))
    assert threads
    assert threading.get_ident() not in threads


def test_a_film_given_up_while_a_picture_is_placed_places_it_no_further(tmp_path, monkeypatch):
    begun, told, place = threading.Event(), threading.Event(), layout_place.place

    def patient(picture, flow, late):
        begun.set()
        while not late():
            told.wait(0.001)
        told.set()
        return place(picture, flow, late)

    monkeypatch.setattr(layout_place, "place", patient)
    steps = FilmJob(tmp_path / "film.gif", films.tape(), films.style()).steps()
    while not begun.is_set():
        assert next(steps) == WAITING
    steps.close()
    assert told.wait(30)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_what_writes_a_film_is_imported_aside(qapp, tmp_path, monkeypatch, kind):
    imported = []
    monkeypatch.setattr(
        film_job, "import_library", lambda kind: imported.append((kind, threading.current_thread()))
    )
    job = FilmJob(tmp_path / f"film.{kind}", films.tape(), films.style())
    steps = job.steps()
    while next(steps) == WAITING and not imported:
        pass
    steps.close()
    ((name, thread),) = imported
    assert name == kind
    assert thread is not threading.main_thread()


def test_the_colours_of_a_film_are_chosen_aside(qapp, tmp_path, monkeypatch):
    begun, threads = film_job.make_encoder, []

    def noted(*given):
        threads.append(threading.current_thread())
        return begun(*given)

    monkeypatch.setattr(film_job, "make_encoder", noted)
    list(FilmJob(tmp_path / "film.gif", films.tape(), films.style()).steps())
    assert len(threads) == 1
    assert threading.main_thread() not in threads
    assert (tmp_path / "film.gif").read_bytes()[:6] == b"GIF89a"


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_frames_are_put_into_a_film_aside_and_in_their_order(qapp, tmp_path, monkeypatch, kind):
    begun, threads, painted, added = film_job.make_encoder, set(), [], []

    class Noted:
        def __init__(self, *given):
            self.made = begun(*given)

        def add(self, frame):
            threads.add(threading.current_thread())
            added.append(frame)
            self.made.add(frame)

        def finish(self):
            threads.add(threading.current_thread())
            return self.made.finish()

    painting = film_job.GraphFilm.frame_steps

    def noted(film, take, ms):
        painted.append((yield from painting(film, take, ms)))
        return painted[-1]

    job = FilmJob(tmp_path / f"film.{kind}", films.tape(), films.style())
    monkeypatch.setattr(film_job, "make_encoder", Noted)
    for done in job.steps():
        if done == 0:
            # The stills are there; from now on every picture is a frame.
            monkeypatch.setattr(film_job.GraphFilm, "frame_steps", noted)
            painted.clear()
    assert threading.main_thread() not in threads
    assert len(added) == len(job)
    assert added == painted[-len(job) :]
    assert job.path.stat().st_size > 1000


def test_a_frame_that_cannot_be_put_into_a_film_ends_it(qapp, tmp_path, monkeypatch):
    begun, counted = film_job.make_encoder, []

    def spoilt(*given):
        made = begun(*given)
        add = made.add

        def third(frame):
            counted.append(1)
            if len(counted) == 3:
                raise OSError("no codec")
            add(frame)

        made.add = third
        return made

    monkeypatch.setattr(film_job, "make_encoder", spoilt)
    with pytest.raises(OSError, match="no codec"):
        list(FilmJob(tmp_path / "film.gif", films.tape(), films.style()).steps())
    assert list(tmp_path.iterdir()) == []


def test_a_film_is_asked_for_before_what_writes_it_is_imported():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import gradscribe.app.export.film_job, sys; print('PIL' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def read_back(path):
    """Return number of shown frames, size and milliseconds of a film, by the libraries' word."""
    if path.suffix == ".gif":
        with Image.open(path) as film:
            lasted = 0
            for number in range(film.n_frames):
                film.seek(number)
                lasted += film.info["duration"]
            return lasted * FPS["gif"] // 1000, film.size, lasted
    with av.open(str(path)) as film:
        (stream,) = film.streams.video
        count = sum(1 for _ in film.decode(stream))
        return (
            count,
            (stream.width, stream.height),
            float(stream.duration * stream.time_base) * 1000,
        )


@pytest.mark.parametrize("kind", ["gif", "mp4"])
@pytest.mark.parametrize("code", [False, True])
def test_a_film_read_back_has_its_size_its_length_and_its_frames(qapp, tmp_path, kind, code):
    tape, path = films.tape(), tmp_path / f"film.{kind}"
    options = FilmOptions((640, 360), 2.0, 3, 8, code)
    job = FilmJob(path, tape, films.style(), options=options, source=films.SOURCE)
    for _ in job.steps():
        pass
    count, size, lasted = read_back(path)
    wanted = BEGIN_MS + END_MS + sum(duration(event.kind, 2.0) for event in tape.events[3:8])
    assert size == (640, 360)
    assert lasted == pytest.approx(wanted, abs=1000 / FPS[kind] + 1)
    assert count == pytest.approx(wanted * FPS[kind] / 1000, abs=1)
    assert count == pytest.approx(len(job), abs=1)


def first_and_last(path):
    with Image.open(path) as film:
        first = np.asarray(film.convert("RGB"), dtype=int)
        film.seek(film.n_frames - 1)
        return first, np.asarray(film.convert("RGB"), dtype=int)


def test_a_part_of_the_tape_begins_and_ends_as_the_whole_does_there(qapp, tmp_path):
    pictures = {}
    for first, stop in ((0, 5), (5, 9)):
        path = tmp_path / f"{first}.gif"
        job = FilmJob(
            path, films.tape(), films.style(), options=FilmOptions(None, 8.0, first, stop)
        )
        for _ in job.steps():
            pass
        pictures[first] = first_and_last(path)
    graph = np.s_[: pictures[0][1].shape[0] - 44]
    off = np.abs(pictures[0][1][graph] - pictures[5][0][graph]).max(axis=-1)
    assert (off < SHADE).mean() > 0.995, "where one ends the other begins"


def test_the_program_stands_left_of_the_graph(qapp, tmp_path):
    shown = []
    for code in (False, True):
        path = tmp_path / f"{code}.gif"
        options = FilmOptions((640, 480), 8.0, code=code)
        job = FilmJob(path, films.tape(), films.style(), options=options, source=films.SOURCE)
        for _ in job.steps():
            pass
        shown.append(first_and_last(path)[1])
    theme = films.style().theme
    panel, canvas = (np.array(color.toTuple()[:3]) for color in (theme.panel, theme.canvas))
    left = np.s_[:400, 20:200]
    share = []
    for picture in shown:
        part = picture[left]
        to_panel, to_canvas = (np.abs(part - color).sum(axis=-1) for color in (panel, canvas))
        share.append(float((to_panel < to_canvas).mean()))
    assert share[0] < 0.3
    assert share[1] > 0.7


def test_a_program_that_is_not_asked_for_is_not_drawn(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(film_job, "FilmCode", None)
    options = FilmOptions(None, 8.0, 0, 2)
    path = tmp_path / "film.gif"
    job = FilmJob(path, films.tape(), films.style(), options=options, source=films.SOURCE)
    for _ in job.steps():
        pass
    assert path.exists()


def test_cancelling_a_film_with_the_program_leaves_nothing(qapp, tmp_path):
    options = FilmOptions((640, 480), code=True)
    path = tmp_path / "film.mp4"
    steps = FilmJob(path, films.tape(), films.style(), options=options, source=films.SOURCE).steps()
    while next(steps) < 5:
        pass
    steps.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("first", "stop"), [(5, 2), (0, 10_000), (4, 4)])
def test_a_wrong_part_is_refused_before_any_work(qapp, tmp_path, first, stop):
    with pytest.raises(Refused):
        FilmJob(
            tmp_path / "film.gif",
            films.tape(),
            films.style(),
            options=FilmOptions(first=first, stop=stop),
        )


def test_without_an_encoder_the_film_ends_in_words_and_leaves_nothing(qapp, tmp_path, monkeypatch):
    job = FilmJob(tmp_path / "film.mp4", films.tape(), films.style())
    monkeypatch.setattr(encoders, "H264", "no-such-encoder")
    with pytest.raises(Refused, match=r"no H\.264 encoder"):
        for _ in job.steps():
            pass
    assert list(tmp_path.iterdir()) == []
