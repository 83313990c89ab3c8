"""Export job that renders the playback of a tape to a film, in steps."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from gradscribe.app.export.encoders import FPS, Kind, check_available, import_library, make_encoder
from gradscribe.app.export.film_code import FilmCode
from gradscribe.app.export.film_options import FilmOptions, span_of
from gradscribe.app.export.queue import ExportJob, awaited
from gradscribe.app.files import documents
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build, look
from gradscribe.playback.layout import place
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.tape.tempo import VideoTiming
from gradscribe.widgets.base.drive import GeneratorRun
from gradscribe.widgets.graph.film import (
    GLIDE_MS,
    FilmStyle,
    GraphFilm,
    largest_scene,
    sample_takes,
)
from gradscribe.widgets.graph.paint.stage import Stage

PALETTE_FRAMES = 6
"""Number of sample frames for the palette of a GIF."""
MAX_QUEUED_FRAMES = 3
"""Most frames, of some megabytes each, that may wait for the encoder."""

T = TypeVar("T")


class FilmJob(ExportJob):
    """Renders one film; `steps` does so in small steps."""

    def __init__(
        self,
        path: Path,
        tape: Tape,
        style: FilmStyle,
        open_calls: frozenset[str] | None = None,
        options: FilmOptions | None = None,
        source: str = "",
    ) -> None:
        """Check what can be checked before the work.

        Args:
            path: the file; its suffix selects the format.
            tape: what is filmed.
            style: appearance; its size is that of the options.
            open_calls: modules that are unfolded; None for the usual ones.
            options: size, speed and so on.
            source: the program, for a film that shows it.

        Raises:
            Refused: the format or the range is wrong, or the file cannot be written.
        """
        super().__init__(path.name)
        options = options or FilmOptions()
        self.path, self.tape = path, tape
        self.style = replace(style, size=options.size)
        self.kind: Kind = path.suffix.lower().removeprefix(".")
        check_available(self.kind)
        documents.check_writable(path)
        self._open_calls = open_calls
        self._source = source if options.code else ""
        self._code: FilmCode | None = None
        first, stop = self._span = span_of(options, len(tape.events))
        self._scenes = scenes.scenes(tape)
        self._over = False
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="film")
        self._stages: dict[Scene, Future[Stage]] = {}
        self.tempo = VideoTiming(tape.events, FPS[self.kind], options.speed, first=first, stop=stop)

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
            if self._code is not None:
                self._code.close()
            # Do not wait: a layout in progress notices the cancellation and ends.
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _steps(self) -> Iterator[int]:
        yield from awaited(self._pool.submit(import_library, self.kind))
        yield from self._placed(largest_scene(self._scenes, self._span))
        if self._source:
            self._code = FilmCode(self.tape, self._source, self.style.theme, self.style.layers)
            for _ in self._code.prepare():
                yield 0
        film, theme = self._film(), self.style.theme
        yield 0
        for take in sample_takes(self.tempo, PALETTE_FRAMES):
            yield from self._placed(scenes.scene_index_at(self._scenes, take.position))
        pictures = []
        looked = self._film()
        for take in sample_takes(self.tempo, PALETTE_FRAMES):
            pictures.append((yield from _bits(looked.frame_steps(take, GLIDE_MS), 0)))
            yield 0
        tokens = (theme.forward, theme.backward, theme.parameter, theme.data, theme.selection)
        colors = (*tokens, theme.canvas, theme.surface, theme.ink)
        # In the worker thread, because a GIF computes its palette from all of these pictures.
        made = yield from awaited(self._pool.submit(make_encoder, self.kind, pictures, colors))
        added: deque[Future[None]] = deque()
        for done, take in enumerate(self.tempo.frames(), 1):
            yield from self._placed(scenes.scene_index_at(self._scenes, take.position))
            frame = yield from _bits(film.frame_steps(take, 1000 / self.tempo.fps), done - 1)
            # Frames are encoded while the next ones are painted.
            if len(added) == MAX_QUEUED_FRAMES:
                yield from awaited(added.popleft())
            added.append(self._pool.submit(made.add, frame))
            yield done
        while added:
            yield from awaited(added.popleft())
        whole = yield from awaited(self._pool.submit(made.finish))
        yield from awaited(self._pool.submit(documents.write_bytes, self.path, whole))

    def _film(self) -> GraphFilm:
        def placed(scene: Scene) -> Stage:
            return self._ask(scene).result()

        return GraphFilm(self.tape, placed, self.style, self._span, self._code)

    def _placed(self, number: int) -> Iterator[int]:
        """Yield until a scene is laid out; start with the next scene as well."""
        yield from awaited(self._ask(self._scenes[number]))
        if number + 1 < len(self._scenes):
            self._ask(self._scenes[number + 1])

    def _ask(self, scene: Scene) -> Future[Stage]:
        """Return the future of a scene's stage, started once and shared by the two passes."""
        if scene not in self._stages:
            self._stages[scene] = self._pool.submit(self._place, scene)
        return self._stages[scene]

    def _place(self, scene: Scene) -> Stage:
        picture = build.build_picture(self.tape, scene, self._open_calls)
        stage = Stage(self.tape, picture, place.place(picture, self.style.flow, self._is_over))
        look.look_at(self.tape, picture, scene, scene.start)
        return stage

    def _is_over(self) -> bool:
        return self._over


def _bits(steps: Generator[None, None, T], done: int) -> Generator[int, None, T]:
    """Yield ``done`` after each step of a generator, and return the generator's value."""
    bits = GeneratorRun(steps)
    for _ in bits:
        yield done
    return bits.result
