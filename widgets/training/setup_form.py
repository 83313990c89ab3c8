"""The set-up of a run as a form, made from what the engine says it can be made of."""

from collections.abc import Iterator

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.setup import Part, Setup
from engine.training import Catalogue
from widgets.theme import Theme
from widgets.training import general
from widgets.training.sections import PartSection, Rows, Section
from widgets.training.switches import Switches

PARTS = ("data", "model", "loss", "optimizer", "schedule")
_TUPLES = ("features", "frozen", "mistakes")


class SetupForm(QWidget):
    """Every setting of a run. What is changed is told as a whole new `Setup`."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setup = Setup()
        self._raw: tuple[str, ...] = general.FEATURES[:2]
        """The inputs as features."""
        self._shares: dict[str, float] = {}
        """How much of each data set is trained on unless one says otherwise."""
        self.parts = {
            "data": PartSection("Data", ours=True),
            "model": PartSection("Model", ours=True),
            "loss": PartSection("Loss", "the one that fits the data", is_open=False),
            "optimizer": PartSection("Optimizer"),
            "schedule": PartSection("Schedule", "constant learning rate", is_open=False),
        }
        self.split = Rows("Split and features", general.DATA)
        self.batches = Rows("Batches and validation", general.BATCHES, is_open=True)
        self.limits = Rows("Regularization and clipping", general.LIMITS)
        self.machine = Rows("Seed, device, precision", ())
        self.mistakes = Switches("Mistakes on purpose", general.MISTAKES)
        self.extra = QVBoxLayout()
        """Room below the data for what only the window can show."""
        self._lay_out()
        for key, section in self.parts.items():
            section.chosen.connect(lambda part, key=key: self._choose(key, part))
        for rows in self._general():
            rows.edited.connect(self._edit)
        self.mistakes.switched.connect(self._make_mistakes)

    def _general(self) -> tuple[Rows, ...]:
        return (self.split, self.batches, self.limits, self.machine)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 8, 4, 12)
        column.setSpacing(4)
        column.addWidget(self.parts["data"])
        self.extra.setContentsMargins(16, 0, 12, 0)
        column.addLayout(self.extra)
        for part in (
            self.split,
            self.parts["model"],
            self.parts["loss"],
            self.parts["optimizer"],
            self.parts["schedule"],
            self.batches,
            self.limits,
            self.machine,
            self.mistakes,
        ):
            column.addWidget(part)
        column.addStretch(1)

    def sections(self) -> tuple[Section, ...]:
        """Return the parts that take a theme, each by itself: all at once would take long."""
        return (*self.parts.values(), *self._general(), self.mistakes)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        for section in self.sections():
            section.set_theme(theme)

    def offer(self, catalogue: Catalogue, devices: tuple[str, ...] = ("cpu",)) -> Iterator[None]:
        """Offer what there is, in steps that take a few milliseconds each."""
        self._shares = {one.name: one.train for one in catalogue.entries if one.kind == "data"}
        self.machine.add(general.machine(devices))
        self.mistakes.offer(catalogue.mistakes)
        for key, section in self.parts.items():
            section.set_entries([entry for entry in catalogue.entries if entry.kind == key])
            yield
            yield from section.follow(getattr(self._setup, key))
        self._show_general()
        self.mistakes.choose(self._setup.mistakes)

    def set_setup(self, setup: Setup) -> None:
        """Show ``setup``; emits nothing."""
        for _ in self.follow(setup):
            pass

    def follow(self, setup: Setup) -> Iterator[None]:
        """Do as `set_setup` does, in steps that take a few milliseconds each."""
        self._setup = setup
        for key, section in self.parts.items():
            yield from section.follow(getattr(setup, key))
        self._show_general()
        self.mistakes.choose(setup.mistakes)

    def _show_general(self) -> None:
        # Where none is chosen the inputs are what the model is given.
        shown = {"features": self._setup.features or self._raw}
        for rows in self._general():
            values = {name: getattr(self._setup, name) for name in rows.names}
            rows.set_values({name: shown.get(name, value) for name, value in values.items()})

    def offer_features(self, names: tuple[str, ...]) -> None:
        """Offer what can be made of the data's inputs, which are called so; none of pictures."""
        choices = general.features(len(names))
        self._raw = choices[: len(names)]
        self.split.offer("features", choices, general.named(names) if choices else "")
        self._show_general()

    def complain(self, place: str, why: str) -> None:
        """Show what is wrong at the setting it is about; empty ``why`` takes all of it away."""
        for one in (*self.parts.values(), self.mistakes):
            one.complain("")
        every: list[PartSection | Rows] = [*self.parts.values(), *self._general()]
        for section in every:
            for line in section.by_name.values():
                line.complain("")
        if not why:
            return
        key, _, option = place.partition(".")
        if key in self.parts:
            part = self.parts[key]
            part.head.setChecked(True)
            row = part.by_name.get(option)
            (part if row is None or row.isHidden() else row).complain(why)
            return
        if key == "mistakes":
            self.mistakes.complain(why)
        for rows in self._general():
            if key in rows.names:
                rows.head.setChecked(True)
                rows.by_name[key].complain(why)

    def knows(self, place: str) -> bool:
        """Whether there is a place for a complaint about that setting."""
        key = place.partition(".")[0]
        known = (*self.parts, "mistakes", *(n for one in self._general() for n in one.names))
        return key in known

    def _choose(self, key: str, part: Part | None) -> None:
        changes: dict[str, object] = {key: part}
        if key == "data" and part is not None and part.name != self._setup.data.name:
            # A loss chosen for other data, or features made from other inputs, seldom fit.
            changes |= {"loss": None, "features": ()}
            if self._setup.train == self._shares.get(self._setup.data.name):
                changes["train"] = self._shares.get(part.name, self._setup.train)
        self._tell(replace(self._setup, **changes))

    def _edit(self, key: str, value: object) -> None:
        if key in _TUPLES and isinstance(value, list):
            value = tuple(value)
        if key == "features" and value == self._raw:
            value = ()
        self._tell(replace(self._setup, **{key: value}))
        if key == "features":
            self._show_general()

    def _make_mistakes(self, made: tuple[str, ...]) -> None:
        self._tell(replace(self._setup, mistakes=made))

    def _tell(self, setup: Setup) -> None:
        self._setup = setup
        self.edited.emit(setup)
