"""One side of a comparison: the graph of a tape with the differences marked."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.scene_builder import SceneBuilder
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.differences import Difference
from gradscribe.playback.compare.tinter import DifferenceTinter
from gradscribe.playback.graph import look
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import Scene
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.view import GraphView


class CompareSide(QObject):
    """One of the two tapes: its graph at a position, with the differences marked."""

    pictured = Signal()

    def __init__(
        self, tape: Tape, compared: Comparison, is_left: bool, theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.tape, self.is_left, self.marks = tape, is_left, DifferenceTinter(compared, is_left)
        self.view = GraphView()
        self.view.set_theme(theme)
        self.position = len(tape.events)
        self._scenes = scenes.scenes(tape)
        self._scene: Scene | None = None
        self._open: frozenset[str] | None = None
        self._picture: Picture | None = None
        self._wanted: Difference | None = None
        # Building two scenes would block the event that opens the card.
        self.scene_builder = SceneBuilder(self, aside=True)
        self.scene_builder.built.connect(self._show)
        self.view.toggled.connect(self._toggle)

    def move(self, position: int) -> None:
        """Show another position."""
        self.position = position
        scene = self._scenes[scenes.scene_index_at(self._scenes, position)]
        if scene != self._scene:
            self._scene, self._picture = scene, None
            self.scene_builder.request(self.tape, scene, self._open, position=position)
        self._look()

    def select(self, difference: Difference) -> None:
        """Select the card of a difference, as soon as the picture is built."""
        self._wanted = difference
        self.view.select(self.key_of(difference) or None)

    def value_of(self, difference: Difference) -> int | None:
        """Return the id of the value that differs on this side; None if there is none."""
        return difference.left if self.is_left else difference.right

    def key_of(self, difference: Difference) -> str:
        """Return the key of the card of a difference; empty if there is none."""
        if self._picture is None:
            return ""
        if difference.kind == ("left fails" if self.is_left else "right fails"):
            return next((card.key for card in self._picture.cards if card.failed), "")
        value = self.value_of(difference)
        return "" if value is None else self.card_of(value)

    def card_of(self, value: int) -> str:
        """Return the key of the card that shows a value; empty for none."""
        return "" if self._picture is None else self._picture.value_cards.get(value, "")

    def scene_end_of(self, value: int) -> int:
        """Return the end position of the scene in which a value is created; 0 if unknown."""
        born = index_of(self.tape).created_at.get(value)
        if born is None:
            return 0
        return self._scenes[scenes.scene_index_at(self._scenes, born + 1)].stop

    def _look(self) -> None:
        if self._picture is not None and self._scene is not None:
            self.view.set_look(look.look_at(self.tape, self._picture, self._scene, self.position))

    def _show(self, stage: Stage) -> None:
        self._picture = stage.picture
        self.view.set_stage(stage, animate=False)
        self.view.set_marks(self.marks)
        self._look()
        if self._wanted is not None:
            self.select(self._wanted)
        self.pictured.emit()

    def _toggle(self, key: str) -> None:
        if self._picture is not None and self._scene is not None:
            self._open = frozenset({frame.key for frame in self._picture.frames} ^ {key})
            self.scene_builder.request(self.tape, self._scene, self._open, position=self.position)
