"""Paint times of the graph, for `make bench`: a table in Markdown.

A frame is one complete repaint of the canvas: while panning, while zooming by the wheel (the
static layer is shown scaled until the wheel rests), with a hundred moving tokens, and, as at high
speed, with twenty newly active wires in each frame. *All anew* repaints the static layer.
Milliseconds of the thread's CPU time, so that other load matters little; without a graphics card,
into memory.
"""

import gc
import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import CardLook, Look, Picture, Placement, Rect, WireLook
from gradscribe.playback.layout import place
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.view import GraphView
from tests.bench.layout_graphs import network

SIZE = (1400, 900)
FRAMES = 150
TOKENS = 100
VIEWS = {"all in sight": None, "at 100 %": 1.0}


def main() -> int:
    """Measure and print the table."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    sys.stdout.write(
        "| ms, median / 99 % | pan | zoom | 100 tokens | sweep of light | all anew |\n"
    )
    sys.stdout.write("|---|" + "---:|" * 5 + "\n")
    for nodes in (1_000, 10_000):
        picture = network(nodes)
        stage = Stage(Tape(), picture, sheet(picture))
        for name, zoom in VIEWS.items():
            view = seen(stage, zoom)
            app.processEvents()
            gc.collect()
            gc.freeze()
            cells = [f"{np.median(t):.1f} / {np.percentile(t, 99):.1f}" for t in rows(view)]
            sys.stdout.write(f"| {nodes:,} nodes, {name} | " + " | ".join(cells) + " |\n")
            sys.stdout.flush()
            view.deleteLater()
    return 0


def sheet(picture: Picture) -> Placement:
    """Return the picture's layout cut into pieces side by side, so that all of it is visible."""
    tall = place.place(picture)
    pieces = max(1, round((tall.height / tall.width * SIZE[0] / SIZE[1]) ** 0.5))
    height = tall.height / pieces

    def moved(x: float, y: float, piece: int) -> tuple[float, float]:
        return x + piece * tall.width, y - piece * height

    home = {key: int(rect.y / height) for key, rect in tall.cards.items()}
    cards = {
        key: Rect(*moved(rect.x, rect.y, home[key]), rect.width, rect.height)
        for key, rect in tall.cards.items()
    }
    routes = {
        wire.key: tuple(moved(x, y, home[wire.source]) for x, y in tall.routes[wire.key])
        for wire in picture.wires
        if home[wire.source] == home[wire.target]
    }
    return Placement(cards, {}, routes, tall.width * pieces, height)


def seen(stage: Stage, zoom: float | None) -> GraphView:
    """Return a canvas that shows a whole stage, or its middle at a zoom."""
    view = GraphView()
    view.resize(*SIZE)
    view.show()
    view.set_stage(stage, animate=False)
    view.set_look(Look({key: CardLook(reached=True) for key in stage.cards}, {}))
    view.finish_motion()
    view.fit()
    view.finish_motion()
    if zoom is not None:
        middle = stage.boxes[stage.card_keys[len(stage.card_keys) // 2]].center()
        x, y = SIZE[0] / 2 - middle.x() * zoom, SIZE[1] / 2 - middle.y() * zoom
        view.set_camera(Camera(zoom, x, y))
    return view


def rows(view: GraphView) -> list[list[float]]:
    """Return the times of panning, zooming, tokens, a sweep of light, and painting all anew."""
    home = view.camera()
    frame(view)
    panned = timed(lambda n: pan(view, home, n), view)
    view.set_camera(home)
    frame(view)
    middle = QPointF(SIZE[0] / 2, SIZE[1] / 2)
    zoomed = timed(lambda n: view.zoom_by(1.02 if n % 40 < 20 else 1 / 1.02, middle), view)
    view.set_camera(home)
    settle(view)
    start = view.look()
    keys = near(view)
    running = {key: WireLook(carried=True, active="forward") for key in keys[:TOKENS]}
    view.set_look(replace(start, wires=running, phase="forward"), 60_000)
    frame(view)
    tokens = timed(lambda _n: None, view)
    view.finish_motion()

    def sweep(n: int) -> None:
        lit = keys[(n * 20) % len(keys) :][:20]
        wires = {key: WireLook(carried=True, active="forward") for key in lit}
        view.set_look(replace(start, wires=wires, phase="forward"), 60)

    swept = timed(sweep, view)
    view.finish_motion()
    view.set_look(start)
    anew = timed(lambda n: anew_at(view, home, n), view, 20)
    return [panned, zoomed, tokens, swept, anew]


def near(view: GraphView) -> list[str]:
    """Return the keys of the visible wires, then of the others."""
    stage = view.stage()
    area = view.camera().box_to_scene(view.rect().toRectF())
    found = dict.fromkeys(stage.wires_in(area))
    return list(found | dict.fromkeys(stage.wire_keys))


def pan(view: GraphView, home: Camera, n: int) -> None:
    """Move the picture by some pixels, back and forth."""
    way = 8.0 * (n % 50 if n % 100 < 50 else 50 - n % 50)
    view.set_camera(home.moved(way, way / 2))


def anew_at(view: GraphView, home: Camera, n: int) -> None:
    """Repaint at a camera so far away that no painted tile can be reused."""
    view.set_camera(home.moved(3000.0 * (n % 2), 0.0) if n % 2 else home)
    view.canvas.layer.valid = False
    frame(view)
    view.canvas.layer.finish(view.canvas.drawing)


def settle(view: GraphView) -> None:
    """Repaint the static layer at the current zoom."""
    view.prepare()
    frame(view)


def timed(act: Callable[[int], None], view: GraphView, frames: int = FRAMES) -> list[float]:
    """Return the milliseconds of ``frames`` frames, each after ``act`` with its number."""
    times = []
    for n in range(frames):
        start = time.thread_time()
        act(n)
        frame(view)
        times.append(1000 * (time.thread_time() - start))
    return times


_canvas = QImage(*SIZE, QImage.Format.Format_RGB32)


def frame(view: GraphView) -> None:
    """Paint the canvas once."""
    view.render(_canvas)


if __name__ == "__main__":
    sys.exit(main())
