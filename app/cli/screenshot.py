"""Headless rendering: screenshots of the window, pictures of the graph, films."""

import os
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gradscribe.app.cli.exit_codes import BY_STATUS, DIED, FAILED, RAN, REFUSED
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import ENGINE_DIED
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Drafts, Refused
from gradscribe.app.files.settings import Settings
from gradscribe.app.link import own_engine
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import Flow
from gradscribe.playback.lessons.lesson import Lesson

if TYPE_CHECKING:
    from gradscribe.app.export.film_options import FilmOptions
    from gradscribe.app.link.client import Link
    from gradscribe.app.window.window import Window

USUAL = (1440, 900)


def screenshot(
    out: str,
    file: str = "",
    at: int | None = None,
    size: tuple[int, int] = USUAL,
    theme: str = "",
    timeout: float = 60.0,
    lesson: Lesson | None = None,
    step: int | None = None,
    trusted: bool = False,
) -> int:
    """Run ``file`` (or the first example) in the real window and draw it to the PNG ``out``.

    Returns the exit code: 0 ran, 1 the program failed, 2 bad file or refused, 3 timed out or died.

    Args:
        out: path of the PNG file.
        file: the program; empty for the first example.
        at: position in events; None for the end, negative values count from it.
        size: of the window in pixels.
        theme: ``light``, ``dark`` or ``system``; empty for the user's setting.
        timeout: seconds to wait for the engine, and for a set-up's steps.
        lesson: lesson to open instead of ``file``.
        step: of the lesson, from 0.
        trusted: whether the script, or the programs of the lesson, run without the policy.
    """
    use_offscreen()
    from gradscribe.app.link.client import Link
    from gradscribe.app.window.startup import make_app
    from gradscribe.app.window.window import Window

    app, link, settings = make_app(sys.argv), Link(), Settings()
    settings.put("theme", theme or Settings.of_user().text("theme"))
    window = Window(link, settings, Drafts(None))
    try:
        window.resize(*size)
        _begin(window, file, lesson, step, trusted)
        _start(window, link)
        _accept_notice(window, trusted)
        code = _settle_workspace(window, timeout)
        _go_to(window.session, at)
        wait_until(lambda: not window.presenter.scene_builder.busy, timeout)
        _draw(app, window, out)
    except Refused as refusal:
        sys.stderr.write(f"gradscribe: {refusal}\n")
        code = REFUSED
    finally:
        window.close()
        window.deleteLater()
    return code


def _begin(
    window: "Window", file: str, lesson: Lesson | None, step: int | None, trusted: bool
) -> None:
    from gradscribe.app.commands import learn

    window.open_first(file)
    if lesson is not None:
        learn.open_lesson(window.context, lesson, step, trusted)
    if trusted and window.session.doc.foreign:
        window.session.trust()
    elif window.session.doc.recorded is None and not window.session.doc.may_run:
        # Requesting a screenshot of a program implies permission to run it.
        window.session.run_now()
    window.show()


def _start(window: "Window", link: "Link") -> None:
    """Start the engine, unless a run from a file is shown, which needs none.

    Raises:
        UnusablePython: no Python with PyTorch is known.
    """
    if window.session.doc.shows_file is None:
        own_engine.resolve(window.session.doc.interpreter)
        link.start()


def _accept_notice(window: "Window", trusted: bool) -> None:
    """Accept the notice that asks whether a set-up or a session may run its program."""
    notice = window.notices.notice
    wanted = "Trust and run it" if trusted else "Open and run it"
    if notice is not None:
        for label, agree in notice.choices:
            if label == wanted:
                agree()


def use_offscreen() -> None:
    """Select Qt's offscreen platform if there is no display."""
    if sys.platform.startswith("linux"):
        shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if not shown:
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def _settle(session: Session, timeout: float) -> int:
    """Wait for the first result and return its exit code."""

    def ended() -> bool:
        result = session.result
        return not result.run_id and (bool(result.shown_id) or result.problem is not None)

    is_over = wait_until(ended, timeout)
    result = session.result
    lost = result.problem is not None and result.problem.type == ENGINE_DIED
    return BY_STATUS[result.tape.status] if is_over and result.shown_id and not lost else DIED


def _settle_workspace(window: "Window", timeout: float) -> int:
    """Wait until the page is complete: the first result, or a paused run; return the exit code."""
    if window.workspaces.current == "program":
        return _settle(window.session, timeout)
    from gradscribe.app.training.session import settle

    if not wait_until(lambda: window.workspaces.is_whole, timeout):
        return DIED
    session = window.workspaces.session
    rests = settle.wait_until_settled(session, lambda holds: wait_until(holds, timeout))
    run = session.run
    if run is not None and (run.problem or session.store.error[1]):
        return FAILED
    return RAN if rests else DIED


def _go_to(session: Session, at: int | None) -> None:
    events = len(session.result.tape.events)
    if at is not None and events:
        session.move(at if at >= 0 else events + 1 + at)


def _draw(app: QApplication, window: "Window", out: str) -> None:
    """Wait for layouts and running animations, and write the picture."""
    for _ in range(3):
        app.sendPostedEvents()
        app.processEvents()
    pause = QElapsedTimer()
    pause.start()
    wait_until(lambda: pause.hasExpired(700), 2.0)
    if not window.grab().save(out, "PNG"):
        raise Refused(f"{out} cannot be written")


def wait_until(holds: Callable[[], bool], timeout: float) -> bool:
    """Run the event loop until ``holds()`` is true; return False after ``timeout`` seconds."""
    if holds():
        return True
    loop = QEventLoop()
    look, end = QTimer(), QTimer()
    look.setInterval(10)
    look.timeout.connect(lambda: loop.quit() if holds() else None)
    end.setSingleShot(True)
    end.timeout.connect(loop.quit)
    look.start()
    end.start(round(timeout * 1000))
    loop.exec()
    look.stop()
    end.stop()
    return holds()


def export_graph(tape: Tape, path: str, theme: str = "light", flow: Flow = "down") -> None:
    """Draw the graph of the last scene of ``tape``, at its end, to an SVG, PNG or DOT file.

    ``flow`` is the direction of the data flow.

    Raises:
        Refused: the suffix is not ``.svg``, ``.png`` or ``.dot``, or the file cannot be written.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".svg", ".png", ".dot"):
        raise Refused(f"{path}: a picture ends in .svg, .png or .dot")
    use_offscreen()
    from gradscribe.app.window.startup import make_app
    from gradscribe.playback.graph import build, look
    from gradscribe.playback.layout import place
    from gradscribe.playback.tape import scenes
    from gradscribe.widgets.base.theme import Theme
    from gradscribe.widgets.graph.view import GraphView

    make_app(sys.argv)
    view = GraphView()
    view.set_theme(Theme.load(theme))
    scene = scenes.scenes(tape)[-1]
    picture = build.build_picture(tape, scene)
    view.set_scene(tape, picture, place.place(picture, flow), animate=False)
    view.set_look(look.look_at(tape, picture, scene, scene.stop))
    data = view.snapshot().encode(kind.removeprefix("."))
    view.deleteLater()
    documents.write_bytes(Path(path), data)


def export_film(
    tape: Tape,
    path: str,
    theme: str = "light",
    flow: Flow = "down",
    progress: Callable[[str, int, int], None] | None = None,
    options: "FilmOptions | None" = None,
    source: str = "",
) -> None:
    """Write the playing tape to a GIF or MP4 file.

    Args:
        tape: played completely, at speed 1 if that takes two minutes at most.
        path: the file; its suffix selects the format.
        theme: ``light`` or ``dark``.
        flow: direction of the data flow.
        progress: called with the file's name, the finished frames and their total.
        options: size, speed, part of the tape; None for the usual ones.
        source: the program, for a film that shows it.

    Raises:
        Refused: the suffix is neither, or the file cannot be written.
    """
    use_offscreen()
    from gradscribe.app.export.film_job import FilmJob
    from gradscribe.app.window.startup import make_app
    from gradscribe.widgets.base.theme import Theme
    from gradscribe.widgets.graph.film import FilmStyle

    make_app(sys.argv)
    style = FilmStyle(Theme.load(theme), flow=flow)
    job = FilmJob(Path(path), tape, style, options=options, source=source)
    for done, _ in groupby(frames for frames in job.steps() if frames > 0):
        if progress is not None:
            progress(Path(path).name, done, len(job))
