"""Draw the manual's pictures with the program itself, for `make pictures`.

Each picture is a scene: a program or a set-up in the real window, some commands, and what is drawn.
Scenes are drawn in both themes. Names on the command line draw those scenes alone.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.cli import screenshot
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "manual" / "pictures"
SIZE = (1280, 800)
PATIENCE_S = 120.0


@dataclass(frozen=True)
class PictureScene:
    """A file of the assets, the position to show, and what to do before it is drawn.

    ``prepare`` returns the widget to draw; None for the window.
    """

    file: str
    at: int | None = None
    prepare: Callable[[Window], QWidget | None] = lambda _window: None
    size: tuple[int, int] = SIZE


def _ways(window: Window) -> None:
    screenshot.wait_until(lambda: window.presenter.is_drawn, PATIENCE_S)
    value = next(v.id for v in window.session.result.tape.values if v.name == "x")
    window.session.select(window.graph.stage().picture.value_cards[value])
    window.menus.perform_by("graph.ways")


def _findings(window: Window) -> None:
    screenshot.wait_until(lambda: bool(window.session.result.tape.findings), PATIENCE_S)
    window.menus.perform_by("doctor.open")


def _curves(window: Window) -> None:
    window.menus.perform_by("view.curves")


def _parameters(window: Window) -> QWidget | None:
    window.menus.perform_by("view.parameters")
    return window.parameters.window


def _settings(window: Window) -> QWidget | None:
    window.menus.perform_by("edit.settings")
    page = window.context.settings_window
    if page is not None:
        page.groups.setFocus()
    return page


def _lecture(window: Window) -> None:
    screenshot.wait_until(lambda: window.presenter.is_drawn, PATIENCE_S)
    slides = window.lecture.slides
    for place, title in ((4, "Forward: two paths"), (-1, "Which gradient does x get?")):
        screenshot._go_to(window.session, place)
        if place < 0:
            window.lecture.blanks.switch()
            window.lecture.blanks.reveal_next()
        slides.add()
        slides.write(title, "", at_once=False)
    window.lecture.open()


def _start(window: Window) -> None:
    for path in window.settings.stored_recent():
        # It lies in a temporary folder.
        window.settings.remove_recent(path)
    window.menus.perform_by("file.start")


SCENES = {
    "window": PictureScene("examples/basics/02_two_paths.py", -6),
    "loop": PictureScene("examples/basics/08_training_loop.py", None, _curves),
    "ways": PictureScene("examples/basics/02_two_paths.py", None, _ways),
    "findings": PictureScene("examples/broken/08_training_loop.py", None, _findings),
    "parameters": PictureScene("examples/basics/08_training_loop.py", None, _parameters),
    "lecture": PictureScene("examples/basics/02_two_paths.py", None, _lecture),
    "settings": PictureScene("examples/basics/02_two_paths.py", None, _settings),
    "start": PictureScene("examples/basics/02_two_paths.py", None, _start),
    "training": PictureScene("setups/01_moons.json", None, size=(1440, 900)),
}


def draw(app: QApplication, name: str, theme: str) -> None:
    """Draw a scene to its file."""
    scene, settings, link = SCENES[name], Settings(), Link()
    settings.put("theme", theme)
    window = Window(link, settings, Drafts(None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(scene.file).name
        source = resources.files("gradscribe.assets").joinpath(*scene.file.split("/"))
        path.write_bytes(source.read_bytes())
        try:
            window.resize(*scene.size)
            screenshot._begin(window, str(path), None, None, trusted=True)
            screenshot._start(window, link)
            screenshot._accept_notice(window, trusted=True)
            screenshot._settle_workspace(window, PATIENCE_S)
            screenshot._go_to(window.session, scene.at)
            shown = scene.prepare(window)
            screenshot.wait_until(lambda: not window.presenter.scene_builder.busy, PATIENCE_S)
            ending = "-dark" if theme == "dark" else ""
            screenshot._draw(app, shown or window, str(PICTURES / f"{name}{ending}.png"))
        finally:
            window.close()
            window.deleteLater()
            link.close()


def main(names: list[str]) -> None:
    """Draw the scenes of these names, or all."""
    screenshot.use_offscreen()
    from gradscribe.app.window.startup import make_app

    app = make_app(["gradscribe"])
    PICTURES.mkdir(exist_ok=True)
    for name in names or SCENES:
        for theme in ("light", "dark"):
            draw(app, name, theme)


if __name__ == "__main__":
    main(sys.argv[1:])
