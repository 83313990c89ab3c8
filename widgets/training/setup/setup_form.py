"""Form for the set-up of a run, built from the engine's catalogue."""

from collections.abc import Iterator, Sequence

from msgspec import structs
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Advice, Catalogue, CatalogueEntry
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.plots.features import FEATURES
from gradscribe.widgets.training.setup import run_options
from gradscribe.widgets.training.setup.check_boxes import CheckBoxSection
from gradscribe.widgets.training.setup.frozen_section import FrozenSection
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.sections import FoldingSection, OptionSection, PartSection
from gradscribe.widgets.training.setup.step_order import StepOrderSection
from gradscribe.widgets.training.setup.thumbnails import Thumbnails

_TUPLES = ("features", "frozen", "mistakes")


class SetupForm(QWidget):
    """Every setting of a run. Each change is signalled as a complete new `Setup`.

    With ``at_once`` false it is built by iterating over `making`, a section per step.
    """

    edited = Signal(object)
    advice_followed = Signal(object)
    """Carries the `Advice` whose button was pressed."""

    def __init__(self, parent: QWidget | None = None, at_once: bool = True) -> None:
        super().__init__(parent)
        self._setup = Setup()
        self._raw: tuple[str, ...] = FEATURES[:2]
        """The features that are the plain inputs."""
        self._shares: dict[str, float] = {}
        """The default training share of each data set."""
        self._data: dict[str, CatalogueEntry] = {}
        self.parts: dict[str, PartSection] = {}
        self.thumbnails, self.renew = Thumbnails(self), QPushButton(tr("New"), self)
        self.extra = QVBoxLayout()
        """Place below the data for widgets of the window, such as the file preview."""
        self.extra.setContentsMargins(16, 0, 12, 0)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(4, 8, 4, 12)
        column.setSpacing(4)
        self.making = self._make()
        if at_once:
            for _ in self.making:
                pass

    def _make(self) -> Iterator[None]:
        # From the top down, so that each section is at its final position at once.
        self._add_part("data", PartSection(tr("Data"), ours=True))
        self._add_pictures()
        self._column.addLayout(self.extra)
        yield
        self.split = self._add_rows(
            OptionSection(tr("Split and features"), run_options.DATA_OPTIONS)
        )
        self._add_part("model", PartSection(tr("Model"), ours=True))
        yield
        words = tr("the one that fits the data")
        self._add_part("loss", PartSection(tr("Loss"), words, is_open=False))
        self._add_part("optimizer", PartSection(tr("Optimizer")))
        yield
        words = tr("constant learning rate")
        self._add_part("schedule", PartSection(tr("Schedule"), words, is_open=False))
        self.batches = self._add_rows(OptionSection(tr("Batches and validation"), (), is_open=True))
        yield
        for option in run_options.BATCH_OPTIONS:
            self.batches.add((option,))
            yield
        self.limits = self._add_rows(
            OptionSection(tr("Regularization and clipping"), run_options.REGULARIZATION_OPTIONS)
        )
        self.machine = self._add_rows(OptionSection(tr("Seed, device, precision"), ()))
        yield
        self.frozen = FrozenSection()
        self.frozen.frozen_changed.connect(
            lambda frozen: self._emit_setup(replace(self._setup, frozen=frozen))
        )
        self._column.addWidget(self.frozen)
        self.steps = StepOrderSection()
        self.steps.reordered.connect(
            lambda order: self._emit_setup(replace(self._setup, order=order))
        )
        self.steps.update_switched.connect(
            lambda by_hand: self._emit_setup(replace(self._setup, manual_update=by_hand))
        )
        self._column.addWidget(self.steps)
        self.mistakes = CheckBoxSection(tr("Mistakes on purpose"), run_options.MISTAKES)
        self.mistakes.switched.connect(self._make_mistakes)
        self._column.addWidget(self.mistakes)
        self._column.addStretch(1)
        for section in self.sections():
            section.followed.connect(self.advice_followed)
        yield

    def _add_part(self, key: str, section: PartSection) -> None:
        self.parts[key] = section
        section.chosen.connect(lambda part: self._choose(key, part))
        self._column.addWidget(section)

    def _add_rows(self, rows: OptionSection) -> OptionSection:
        rows.edited.connect(self._edit)
        self._column.addWidget(rows)
        return rows

    def _add_pictures(self) -> None:
        """Add thumbnails of the data above their choice, and a button for new data next to it."""
        data, row = self.parts["data"], QHBoxLayout()
        self.renew.setProperty("crumb", True)
        self.renew.setToolTip(tr("New data of the same kind; the weights begin as they did"))
        self.renew.setAccessibleName(tr("New data"))
        self.renew.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row.addWidget(data.choice, 1)
        row.addWidget(self.renew)
        data.rows.insertLayout(0, row)
        data.rows.insertWidget(0, self.thumbnails)
        self.thumbnails.chosen.connect(lambda name: self._choose("data", Part(name)))

    def _general(self) -> tuple[OptionSection, ...]:
        return (self.split, self.batches, self.limits, self.machine)

    def sections(self) -> tuple[FoldingSection, ...]:
        """Return the parts that take a theme one by one, as all at once would take long."""
        return (*self.parts.values(), *self._general(), self.frozen, self.steps, self.mistakes)

    def offer(self, catalogue: Catalogue, devices: tuple[str, ...] = ("cpu",)) -> Iterator[None]:
        """Offer the catalogue, in steps of a few milliseconds each."""
        self._data = {entry.name: entry for entry in catalogue.entries if entry.kind == "data"}
        self._shares = {entry.name: entry.train for entry in self._data.values()}
        self.machine.add(run_options.machine_options(devices))
        self.mistakes.offer(catalogue.mistakes)
        for key, section in self.parts.items():
            section.set_entries([entry for entry in catalogue.entries if entry.kind == key])
            yield
            yield from section.follow(getattr(self._setup, key))
        samples = {name: sample.array() for name, sample in catalogue.samples.items()}
        data = [entry for entry in catalogue.entries if entry.kind == "data"]
        yield from self.thumbnails.offer(data, samples)
        self._show_general()
        self._show_step()

    def set_setup(self, setup: Setup) -> None:
        """Show ``setup``; emits nothing."""
        for _ in self.follow(setup):
            pass

    def follow(self, setup: Setup) -> Iterator[None]:
        """Do the work of `set_setup` in steps of a few milliseconds each."""
        self._setup = setup
        self.thumbnails.choose(setup.data.name)
        for key, section in self.parts.items():
            yield from section.follow(getattr(setup, key))
        self._show_general()
        self._show_step()

    def _show_step(self) -> None:
        self.frozen.choose(self._setup.frozen)
        self.steps.choose(self._setup.order, self._setup.manual_update)
        self.mistakes.choose(self._setup.mistakes)

    def _show_general(self) -> None:
        # Without chosen features the model gets the plain inputs.
        shown = {"features": self._setup.features or self._raw}
        for rows in self._general():
            values = {name: getattr(self._setup, name) for name in rows.names}
            rows.set_values({name: shown.get(name, value) for name, value in values.items()})

    def offer_features(self, names: tuple[str, ...]) -> None:
        """Offer the features of the data's inputs, whose names are given; none for images."""
        choices = run_options.feature_names(len(names))
        self._raw = choices[: len(names)]
        self.split.offer("features", choices, run_options.column_legend(names) if choices else "")
        self._show_general()

    def show_error(self, place: str, why: str) -> Label | None:
        """Show an error at its setting, and remove all others; an empty ``why`` only removes.

        Returns the label that shows it; None without an error or such a setting.
        """
        for part in (*self.parts.values(), self.frozen, self.steps, self.mistakes):
            part.show_error("")
        every: list[PartSection | OptionSection] = [*self.parts.values(), *self._general()]
        for section in every:
            for line in section.by_name.values():
                line.show_error("")
        found = self._place(place) if why else None
        if found is None:
            return None
        found.show_error(why)
        return found.note

    def _place(self, place: str) -> FoldingSection | OptionRow | None:
        """Return the section or row of a setting, opened; None if there is none."""
        key, _, option = place.partition(".")
        if key in self.parts:
            part = self.parts[key]
            part.head.setChecked(True)
            row = part.by_name.get(option)
            return part if row is None or row.isHidden() else row
        if key == "mistakes":
            return self.mistakes
        if key in ("order", "manual_update"):
            return self.steps
        if key == "frozen":
            return self.frozen
        for rows in self._general():
            if key in rows.names:
                rows.head.setChecked(True)
                return rows.by_name[key]
        return None

    def show_advice(self, advice: Sequence[Advice]) -> None:
        """Show each piece of advice at the section of its setting, instead of any before."""
        by_section = {section: list[Advice]() for section in self.sections()}
        for one in advice:
            by_section[self._section(one.place)].append(one)
        for section, given in by_section.items():
            section.show_advice(given)

    def advice_out_of_sight(self) -> list[QWidget]:
        """Return the lines of advice of which nothing is seen, from the top down."""
        lines = [line for section in self.sections() for line in section.advice_lines()]
        shown = [line for line in lines if line.isVisible()]
        hidden = [line for line in shown if not line.visibleRegion().boundingRect().height()]
        return sorted(hidden, key=lambda line: line.mapTo(self, QPoint()).y())

    def _section(self, place: str) -> FoldingSection:
        """Return the section of a setting; that of the data if there is none."""
        key = place.partition(".")[0]
        if key in self.parts:
            return self.parts[key]
        rows = next((rows for rows in self._general() if key in rows.names), None)
        return rows or self.parts["data"]

    def ask(self, place: str, what: str) -> None:
        """Show a request at a setting that is not an error; an empty text removes it."""
        key, _, option = place.partition(".")
        for name, part in self.parts.items():
            for row in part.by_name.values():
                row.ask(what if name == key and row.option.name == option else "")

    def has_setting(self, place: str) -> bool:
        """Return whether the form has the setting ``place``."""
        key = place.partition(".")[0]
        known = (
            *self.parts,
            "mistakes",
            "order",
            "manual_update",
            "frozen",
            *(n for rows in self._general() for n in rows.names),
        )
        return key in known

    def _choose(self, key: str, part: Part | None) -> None:
        setup = structs.replace(self._setup, **{key: part})
        if key == "data" and part is not None and part.name != self._setup.data.name:
            # A loss chosen for other data, or features made from other inputs, seldom fit.
            same_task, same_inputs = self._alike(self._setup.data.name, part.name)
            setup = setup if same_task else replace(setup, loss=None)
            setup = setup if same_inputs else replace(setup, features=())
            if self._setup.train == self._shares.get(self._setup.data.name):
                setup = replace(setup, train=self._shares.get(part.name, setup.train))
        self._emit_setup(setup)

    def _alike(self, name: str, other: str) -> tuple[bool, bool]:
        """Return whether two data sets have the same task, and the same kind of inputs."""
        a, b = self._data.get(name), self._data.get(other)
        if a is None or b is None:
            return False, False
        return a.task == b.task != "any", a.inputs == b.inputs != "n"

    def _edit(self, key: str, value: object) -> None:
        if key in _TUPLES and isinstance(value, list):
            value = tuple(value)
        if key == "features" and value == self._raw:
            value = ()
        self._emit_setup(structs.replace(self._setup, **{key: value}))
        if key == "features":
            self._show_general()

    def _make_mistakes(self, made: tuple[str, ...]) -> None:
        self._emit_setup(replace(self._setup, mistakes=made))

    def _emit_setup(self, setup: Setup) -> None:
        self._setup = setup
        self.edited.emit(setup)
