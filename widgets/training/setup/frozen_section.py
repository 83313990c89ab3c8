"""Layers and parameters as check boxes: those that are on are frozen."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox

from gradscribe.engine.protocol.training import Parameter
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.training.setup.sections import FoldingSection

MOST_BOXES = 120
"""Most check boxes; a larger model has boxes for its first layers."""
INDENT = 18
EMPTY = tr("The parameters are listed once the run has begun")


class FrozenSection(FoldingSection):
    """A check box for each layer with parameters, and one for each of its parameters."""

    frozen_changed = Signal(object)
    """Carries the names and beginnings of names that are frozen, as a setup has them."""

    def __init__(self) -> None:
        self.boxes: dict[str, QCheckBox] = {}
        """Check boxes by the beginning of a name: ``0.`` for a layer, ``0.weight``."""
        self._parameters: tuple[Parameter, ...] = ()
        self._frozen: tuple[str, ...] = ()
        super().__init__(tr("Frozen layers"), is_open=False)
        self.words = Label("caption", EMPTY)
        self.rows.addWidget(self.words)

    def offer(self, parameters: Sequence[Parameter]) -> None:
        """Offer the parameters of a run."""
        if [(p.name, p.shape) for p in parameters] == [(p.name, p.shape) for p in self._parameters]:
            return
        self._parameters = tuple(parameters)
        for box in self.boxes.values():
            box.hide()
            box.deleteLater()
        self.boxes = {}
        if self.is_open:
            self.fill()

    def fill(self) -> None:
        """Build the check boxes that do not exist yet."""
        if self.boxes or not self._parameters:
            return
        for name, title, tip in _entries(self._parameters)[:MOST_BOXES]:
            box = QCheckBox(title)
            box.setToolTip(tip)
            box.setAccessibleDescription(tip)
            is_parameter = not name.endswith(".")
            set_sheet(box, f"QCheckBox {{ margin-left: {INDENT if is_parameter else 0}px; }}")
            box.clicked.connect(lambda is_on, name=name: self._switch(name, is_on))
            self.boxes[name] = box
            self.rows.addWidget(box)
        self.choose(self._frozen)

    def choose(self, frozen: Iterable[str]) -> None:
        """Show what is frozen; emits nothing."""
        self._frozen = tuple(frozen)
        for name, box in self.boxes.items():
            box.setChecked(all(self._is_frozen(one) for one in self._inside(name)))
        count = sum(self._is_frozen(parameter.name) for parameter in self._parameters)
        whole = tr(
            "{count:,} of {parameters_count:,} parameters get no gradient and do not move",
            count=count,
            parameters_count=len(self._parameters),
        )
        if self._parameters:
            self.words.say(whole if count else tr("A frozen parameter gets no gradient and stays"))

    def _inside(self, name: str) -> list[str]:
        names = (parameter.name for parameter in self._parameters)
        return [
            one for one in names if one == name or (name.endswith(".") and one.startswith(name))
        ]

    def _is_frozen(self, name: str) -> bool:
        return name.startswith(self._frozen) if self._frozen else False

    def _switch(self, name: str, is_on: bool) -> None:
        switched = set(self._inside(name))
        every = [parameter.name for parameter in self._parameters]
        frozen = {one for one in every if self._is_frozen(one)}
        frozen = frozen | switched if is_on else frozen - switched
        self.choose(_shortened(every, frozen))
        self.frozen_changed.emit(self._frozen)


def _entries(parameters: Sequence[Parameter]) -> list[tuple[str, str, str]]:
    """Return name, title and tool tip of each check box: a layer, then its parameters."""
    found: list[tuple[str, str, str]] = []
    layer = None
    for parameter in parameters:
        path, _, own = parameter.name.rpartition(".")
        if path and path != layer:
            found.append(
                (f"{path}.", f"{path}: {parameter.module}", tr("Freeze all of {path}", path=path))
            )
        layer = path
        shape = " × ".join(map(str, parameter.shape)) or "a number"
        found.append((parameter.name, own, f"{parameter.name}, {shape}: requires_grad"))
    return list(dict.fromkeys(found))


def _shortened(names: Sequence[str], frozen: set[str]) -> tuple[str, ...]:
    """Return the frozen parameters by layer where a whole layer is frozen, else by their names."""
    found: dict[str, None] = {}
    for name in names:
        layer = f"{name.rpartition('.')[0]}."
        inside = [other for other in names if other.startswith(layer)]
        whole = layer != "." and all(other in frozen for other in inside)
        if name in frozen:
            found[layer if whole else name] = None
    return tuple(found)
