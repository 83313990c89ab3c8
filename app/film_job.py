"""Export job that renders the playback of a tape to a film, in steps."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from app import documents
from app.film_files import FPS, Kind, load, require, writer
from app.filming import WAITING, Making
from engine.tape import Tape
from playback import graph, layout, look, scenes
from playback.scenes import Scene
from playback.tempo import Tempo
from widgets.bits import Bits
from widgets.graph_film import GLIDE_MS, Film, Style, largest, sampled
from widgets.paint.stage import Stage

STILLS = 6
"""Number of sample frames for the palette of a GIF."""
AHEAD = 3
"""Most frames, of some megabytes each, that may wait for the encoder."""

T = TypeVar("T")


class Job(Making):
    """Renders one film; `steps` does so in small steps."""

    def __init__(
        self,
        path: Path,
        tape: Tape,
        style: Style,
        open_calls: frozenset[str] | None = None,
        speed: float = 1.0,
    ) -> None:
        super().__init__(path.name)
        self.path, self.tape, self.style = path, tape, style
        self.kind: Kind = path.suffix.lower().removeprefix(".")
        require(self.kind)
        documents.check_writable(path)
        self._open_calls = open_calls
        self._scenes = scenes.scenes(tape)
        self._over = False
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="film")
        self._stages: dict[Scene, Future[Stage]] = {}
        self.tempo = Tempo(tape.events, FPS[self.kind], speed)

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.tempo)

    def steps(self) -> Iterator[int]:
        """Render the film, yielding the number of finished frames, or `WAITING`, after each step.

        No file is written unless the iterator is exhausted.

        Raises:
            Refused: the file cannot be written.
        """
        try:
            yield from self._steps()
        finally:
            self._over = True
            # Do not wait: a layout in progress notices the cancellation and ends.
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _steps(self) -> Iterator[int]:
        yield from _awaited(self._pool.submit(load, self.kind))
        yield from self._placed(largest(self._scenes))
        film, theme = self._film(), self.style.theme
        yield 0
        for take in sampled(self.tempo, STILLS):
            yield from self._placed(scenes.scene_at(self._scenes, take.position))
        pictures = []
        looked = self._film()
        for take in sampled(self.tempo, STILLS):
            pictures.append((yield from _bits(looked.painting(take, GLIDE_MS), 0)))
            yield 0
        tokens = (theme.forward, theme.backward, theme.parameter, theme.data, theme.selection)
        colors = (*tokens, theme.canvas, theme.surface, theme.ink)
        # In the worker thread, because a GIF computes its palette from all of these pictures.
        made = yield from _awaited(self._pool.submit(writer, self.kind, pictures, colors))
        added: deque[Future[None]] = deque()
        for done, take in enumerate(self.tempo.takes(), 1):
            yield from self._placed(scenes.scene_at(self._scenes, take.position))
            frame = yield from _bits(film.painting(take, 1000 / self.tempo.fps), done - 1)
            # Frames are encoded while the next ones are painted.
            if len(added) == AHEAD:
                yield from _awaited(added.popleft())
            added.append(self._pool.submit(made.add, frame))
            yield done
        while added:
            yield from _awaited(added.popleft())
        whole = yield from _awaited(self._pool.submit(made.finish))
        yield from _awaited(self._pool.submit(documents.write_bytes, self.path, whole))

    def _film(self) -> Film:
        return Film(self.tape, lambda scene: self._ask(scene).result(), self.style)

    def _placed(self, number: int) -> Iterator[int]:
        """Yield until a scene is laid out; start with the next scene as well."""
        wanted = self._ask(self._scenes[number])
        while not wanted.done():
            yield WAITING
        if number + 1 < len(self._scenes):
            self._ask(self._scenes[number + 1])

    def _ask(self, scene: Scene) -> Future[Stage]:
        """Return the future of a scene's stage, started once and shared by the two passes."""
        if scene not in self._stages:
            self._stages[scene] = self._pool.submit(self._place, scene)
        return self._stages[scene]

    def _place(self, scene: Scene) -> Stage:
        picture = graph.build(self.tape, scene, self._open_calls)
        stage = Stage(self.tape, picture, layout.place(picture, self.style.flow, self._is_over))
        look.look(self.tape, picture, scene, scene.start)
        return stage

    def _is_over(self) -> bool:
        return self._over


def _bits(steps: Generator[None, None, T], done: int) -> Generator[int, None, T]:
    """Yield ``done`` after each step of a generator, and return the generator's value."""
    bits = Bits(steps)
    for _ in bits:
        yield done
    return bits.made


def _awaited(asked: Future[T]) -> Generator[int, None, T]:
    """Yield `WAITING` until a future is done; return its result."""
    while not asked.done():
        yield WAITING
    return asked.result()
