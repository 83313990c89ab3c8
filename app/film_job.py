"""A film of a tape on its way into a file, bit by bit."""

from collections.abc import Iterator
from pathlib import Path

from app import documents
from app.film_files import FPS, Kind, require, writer
from engine.tape import Tape
from playback import graph, layout
from playback.picture import Picture, Placement
from playback.scenes import Scene
from playback.tempo import Tempo
from widgets.graph_film import Film, Style, stills

STILLS = 6
"""So many frames are looked at for the colours of a GIF."""


class Job:
    """One film on its way into a file; `steps` makes it bit by bit."""

    def __init__(
        self,
        path: Path,
        tape: Tape,
        style: Style,
        open_calls: frozenset[str] | None = None,
        speed: float = 1.0,
    ) -> None:
        self.path, self.tape, self.style = path, tape, style
        self.kind: Kind = path.suffix.lower().removeprefix(".")
        require(self.kind)
        documents.check_writable(path)
        self._open_calls = open_calls
        self._placed: dict[Scene, tuple[Picture, Placement]] = {}
        self.tempo = Tempo(tape.events, FPS[self.kind], speed)

    def __len__(self) -> int:
        """Return how many frames the film has."""
        return len(self.tempo)

    def steps(self) -> Iterator[int]:
        """Make the film, and yield after each bit how many frames are done.

        Whoever stops asking leaves no file behind.

        Raises:
            Refused: the file cannot be written.
        """
        film, theme = self._film(), self.style.theme
        yield 0
        pictures = []
        for picture in stills(self._film(), self.tempo, STILLS):
            pictures.append(picture)
            yield 0
        tokens = (theme.forward, theme.backward, theme.parameter, theme.data, theme.selection)
        made = writer(self.kind, pictures, (*tokens, theme.canvas, theme.surface, theme.ink))
        for done, take in enumerate(self.tempo.takes(), 1):
            made.add(film.frame(take, 1000 / self.tempo.fps))
            yield done
        documents.write_bytes(self.path, made.finish())

    def _film(self) -> Film:
        return Film(self.tape, self._place, self.style)

    def _place(self, scene: Scene) -> tuple[Picture, Placement]:
        """Return the picture of a scene; two films of one job share it."""
        found = self._placed.get(scene)
        if found is None:
            picture = graph.build(self.tape, scene, self._open_calls)
            found = self._placed[scene] = (picture, layout.place(picture, self.style.flow))
        return found
