"""Build and lay out the picture of a scene, in a worker thread if it is big."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundTask, BackgroundWorker
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build, look
from gradscribe.playback.graph.gradients.gradient_graph import gradient_graph
from gradscribe.playback.graph.picture import Flow, Picture, Placement
from gradscribe.playback.layout import place
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import Scene
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.graph.paint.stage import Stage

INLINE_CARDS = 150
"""Most cards of a picture that is laid out in the GUI thread (some milliseconds)."""
INLINE_OPS = 600
"""Most ops of a scene whose picture is built in the GUI thread."""
INLINE_WIRES = 1_000
"""Most inputs of those ops, a wire each."""
AFTER_MS = 12
"""Delay before the worker thread starts, so that the window is repainted first, which may happen
up to 5 ms after the request."""
CACHE_SIZE = 48
"""Most pictures in the cache, for loops whose scenes recur."""

LayoutKey = tuple[object, ...]
LaidOut = tuple[Picture, Placement]


def _is_small(tape: Tape, scene: Scene) -> bool:
    first, end = scene.ops
    if end - first > INLINE_OPS:
        return False
    return sum(len(op.inputs) for op in tape.ops[first:end]) <= INLINE_WIRES


def layout_key(picture: Picture) -> LayoutKey:
    """Return what a layout depends on: the keys, sizes and connections of a picture."""
    cards = tuple((card.key, card.frame, card.width, card.height) for card in picture.cards)
    wires = tuple((wire.key, wire.source, wire.target, wire.operand) for wire in picture.wires)
    frames = tuple((frame.key, frame.parent) for frame in picture.frames)
    return cards, wires, frames


@dataclass
class _Request:
    tape: Tape
    scene: Scene
    open_calls: frozenset[str] | None
    position: int
    flow: Flow
    previous: LaidOut | None
    gradient_only: bool = False
    picture: Picture | None = None

    def draw(self) -> Picture:
        """Return the picture without its layout."""
        picture = build.build_picture(self.tape, self.scene, self.open_calls)
        return gradient_graph(index_of(self.tape), picture) if self.gradient_only else picture

    def build(self, task: BackgroundTask) -> Stage:
        """Build the picture in the worker thread."""
        picture = self.picture or self.draw()
        placement = place.place(picture, self.flow, task.is_cancelled, self.previous)
        stage = Stage(self.tape, picture, placement)
        # Fills the cache for the position that the window will request.
        look.look_at(self.tape, picture, self.scene, self.position)
        return stage


class SceneBuilder(QObject):
    """Build the picture of a scene asynchronously; only the latest request is delivered."""

    built = Signal(object)
    """Carries a `Stage`: the picture with its layout."""
    busy_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None, *, aside: bool = False) -> None:
        """Build even small pictures in the worker thread if ``aside``."""
        super().__init__(parent)
        self._aside = aside
        self._worker = BackgroundWorker(self)
        self._kept: OrderedDict[tuple[object, ...], Stage] = OrderedDict()
        self._key: tuple[object, ...] = ()
        self._shown: Stage | None = None
        self._flow: Flow = "down"
        self._wanted_flow: Flow = "down"
        self.busy = False
        """True while a picture is being built."""
        self._next: _Request | None = None
        # Threads compete for the GIL: let the requesting event and the following repaint finish
        # first.
        self._begin = single_shot(self, self._start, AFTER_MS)
        self._asked = single_shot(self, self._begin.start)

    def request(
        self,
        tape: Tape,
        scene: Scene,
        open_calls: frozenset[str] | None,
        run_id: int = 0,
        position: int = 0,
        flow: Flow = "down",
        gradient_only: bool = False,
    ) -> None:
        """Request the picture of ``scene``; a small one is delivered before this returns.

        ``position`` is the position that will be shown first; ``gradient_only`` leaves out the
        cards that no gradient can pass.
        """
        self._leave()
        self._key = (run_id, scene.start, open_calls, flow, gradient_only)
        self._wanted_flow = flow
        if self._key in self._kept:
            self._kept.move_to_end(self._key)
            self._show(self._kept[self._key])
            return
        before = self._before(flow)
        wanted = _Request(tape, scene, open_calls, position, flow, before, gradient_only)
        # The layout has a cache that two threads must not write at once.
        if not (self._worker.is_running or self._aside) and _is_small(tape, scene):
            wanted.picture = wanted.draw()
            placement = self._same_place(wanted.picture, flow)
            if placement is None and len(wanted.picture.cards) <= INLINE_CARDS:
                placement = place.place(wanted.picture, flow, previous=wanted.previous)
            if placement is not None:
                self._keep(Stage(tape, wanted.picture, placement))
                return
        self._set_busy(True)
        self._next = wanted
        self._asked.start()

    def _start(self) -> None:
        wanted, self._next = self._next, None
        if wanted is not None:
            self._worker.request(wanted.build, self._deliver)

    def _leave(self) -> None:
        """Cancel the pending request."""
        self._next = None
        self._asked.stop()
        self._begin.stop()
        self._worker.cancel()

    def _same_place(self, picture: Picture, flow: Flow) -> Placement | None:
        """Return the layout that is shown, if it fits this picture, too."""
        shown = self._shown
        if shown is None or self._flow != flow or len(shown.picture.cards) != len(picture.cards):
            return None
        return shown.placement if layout_key(picture) == layout_key(shown.picture) else None

    def _before(self, flow: Flow) -> LaidOut | None:
        """Return the shown picture and layout: common cards keep their order in the new one."""
        shown = self._shown
        return None if shown is None or self._flow != flow else (shown.picture, shown.placement)

    def _deliver(self, result: Callable[[], Stage]) -> None:
        try:
            stage = result()
        except BaseException:
            self._set_busy(False)
            raise
        self._keep(stage)

    def _keep(self, stage: Stage) -> None:
        self._kept[self._key] = stage
        while len(self._kept) > CACHE_SIZE:
            self._kept.popitem(last=False)
        self._show(stage)

    def _show(self, stage: Stage) -> None:
        self._shown, self._flow = stage, self._wanted_flow
        self._set_busy(False)
        self.built.emit(stage)

    def forget(self) -> None:
        """Clear the cache: its pictures belong to a tape that is no longer shown."""
        self._kept.clear()

    def reset_layout(self) -> None:
        """Lay out the next picture from scratch, because it is another program's."""
        self._shown = None

    def _set_busy(self, busy: bool) -> None:
        if busy != self.busy:
            self.busy = busy
            self.busy_changed.emit(busy)

    def close_later(self) -> None:
        """Cancel the worker thread without waiting for it."""
        self._leave()
        self._worker.close_later()

    def close(self) -> None:
        """Wait for the worker thread to end; its result is dropped."""
        self._leave()
        self._worker.close()
