"""The parts of the main window that a lecture is made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gradscribe.app.presenting.kept_controls import Controls, KeptControls
from gradscribe.app.presenting.lecture import Lecture, LectureParts
from gradscribe.app.presenting.presentation import Presentation, Remote

if TYPE_CHECKING:
    from gradscribe.app.window.window import Window


def make_lecture(window: Window) -> tuple[Presentation, Lecture]:
    """Return the presentation of a window, and its lecture with slides."""

    def play(name: str) -> None:
        window.menus.perform_by(name)

    remote = Remote(
        lambda by: window.lecture.turn(by),
        lambda: window.lecture.to_start(),
        partial(play, "play.toggle"),
    )
    presentation = Presentation(window, window.settings, window.graph, remote)
    parts = LectureParts(
        session=window.session,
        clock=window.clock,
        presenter=window.presenter,
        graph=window.graph,
        settings=window.settings,
        look=window.look,
        tabs=window.below,
        notices=window.notices,
        presentation=presentation,
        hide_gradients=window.hand.hide,
        play=play,
        page=lambda: window.workspaces.current,
    )
    return presentation, Lecture(parts, window)


def keep_controls(window: Window) -> None:
    """Show the parts of a window as its settings say, from now on."""
    controls = Controls(
        columns=window.columns,
        panels=window.panels,
        menu=window.menuBar(),
        top=window.top,
        status=window.status,
        curves=window.loop_curves,
        tools=window.over,
        timeline=window.transport,
    )
    KeptControls(window.settings, controls).apply()
