"""The user's own data: a file's columns, and points drawn with the mouse."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.app.training.setup.data_watch import DataWatch
from gradscribe.app.training.setup.default_columns import default_columns
from gradscribe.engine.protocol.setup import JsonValue, Part
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import FileSummary, Option
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.plots.drawing.points import NO_POINTS, class_labels, with_drawn_points

Floats = NDArray[np.float64]
CURVE_COLUMNS = ("x", "y")
"""The columns of points on a curve."""
COLUMN_SETTINGS = ("data.inputs", "data.target")
"""The settings that name columns of a file."""
READING = (
    "separator", "decimal", "thousands", "encoding", "comment", "missing", "missing_words",
    "columns", "limit",
)  # fmt: skip
"""The settings that say how a file is read."""


class OwnData(QObject):
    """Applies columns chosen in a file's preview, and points drawn in a plot, to the setup."""

    def __init__(self, session: TrainSession, page: TrainingPage, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._page = session, page
        session.store.setup_changed.connect(self.show_setup)
        # A set-up may be opened before the engine has sent the catalogue.
        session.catalogue_changed.connect(self.show_setup)
        session.looked.connect(self._show_file)
        session.file_progressed.connect(self._show_progress)
        session.store.error_changed.connect(self._complain)
        page.file.chosen.connect(self._choose_columns)
        page.file.edited.connect(self._edit_column)
        page.file.stopped.connect(session.controller.stop_reading)
        for view in (page.boundary, page.fit):
            view.drawn.connect(self._draw_point)
            view.moved.connect(self._move_point)
            view.removed.connect(self._remove_point)
        page.boundary.named.connect(self._name_class)
        session.store.begun.connect(self._offer_classes)
        self.has_no_points = False
        """True while all points are removed, so that there is nothing to train on."""
        self._played = False
        self._drawn: Floats | None = None
        self._path = ""
        self._looked: FileSummary | None = None
        self._rereads = False
        self._reading: dict[str, JsonValue] = {}
        """The options with which the file was inspected last."""
        self._chosen: tuple[list[object], str | list[object]] = ([], "")
        """Columns of the current file that were chosen last."""
        self._roles: tuple[JsonValue, JsonValue] = (None, None)
        """Inputs and target that the preview shows."""
        self.watch = DataWatch(self)
        self.watch.changed.connect(self._show_change)
        page.file.again.connect(self.read_again)

    def show_setup(self) -> None:
        """Inspect the file of the setup, and enable drawing for data of points."""
        options = self._session.setup.data.options
        path = next((v for k, v in options.items() if k.endswith("path")), "")
        if isinstance(path, str) and path:
            before, self._reading = self._reading, _reading(options)
            if path != self._path:
                self._looked = None
                self.watch.follow(path)
                self._session.controller.look_into(path, None, self._reading)
            elif self._looked is not None and self._looked.header != options.get("header", True):
                looked, self._looked = self._looked, None
                self._session.controller.look_into(path, not looked.header, self._reading)
            elif self._looked is not None and before != self._reading:
                self._session.controller.look_into(path, self._looked.header, self._reading)
        else:
            self._page.file.hide()
            self.watch.follow("")
        self._path = str(path)
        drawable = self._points_option() is not None
        self._page.set_drawable(drawable, self._session.setup.train < 1)
        self._wipe(drawable and not self._points())
        self._echo()
        self._show_roles()

    def _show_roles(self) -> None:
        """Show in the preview the columns that an undo, or advice, has chosen."""
        options = self._session.setup.data.options
        roles = options.get("inputs"), options.get("target")
        looked = self._looked
        if looked is not None and looked.problem is None and all(roles) and roles != self._roles:
            self._show_file(looked)

    def _echo(self) -> None:
        """Show the points as drawn by now, before the engine replies with them.

        A point that is moved or removed is identified by its index among those shown.
        """
        before, self._drawn = self._drawn, self.drawn()
        if self._drawn is None or (before is not None and np.array_equal(self._drawn, before)):
            return
        if self._drawn.shape[1] == len(CURVE_COLUMNS):
            self._page.fit.show_points(*self._drawn.T)
        else:
            begun = self._session.run.begun if self._session.run is not None else None
            names = class_labels(begun.classes) if begun is not None else ()
            blank = dataclasses.replace(NO_POINTS, names=names)
            self._page.boundary.show_points(with_drawn_points(blank, self._drawn))

    def drawn(self) -> Floats | None:
        """Return the points drawn by hand, (n, 2) on a curve or (n, 3) with their class.

        None if the data are of another kind.
        """
        if self._points_option() is None:
            return None
        try:
            return np.array(self._points(), np.float64).reshape(-1, self._columns())
        except (TypeError, ValueError):
            # A file may contain anything; the engine reports what is wrong.
            return None

    def _wipe(self, blank: bool) -> None:
        """Pause and clear the plots while there are no points, and resume afterwards."""
        if blank and not self.has_no_points:
            self._played = self._session.controller.plays
            self._session.controller.pause()
            self._page.boundary.show_points(NO_POINTS)
            self._page.boundary.show_ground(None)
            self._page.fit.show_points(np.empty(0), np.empty(0))
            self._page.fit.show_curve(np.empty(0), np.empty(0))
        elif self.has_no_points and not blank and self._played:
            self._session.controller.play()
        self.has_no_points = blank

    def _show_change(self, is_other: bool) -> None:
        """Show that the file differs from what was read; a run never picks it up by itself."""
        words = tr("File is missing") if self.watch.is_gone else tr("File changed")
        self._page.file.show_change(words if is_other else "", not self.watch.is_gone)

    def read_again(self) -> None:
        """Inspect the current file, and restart with it."""
        self._rereads = True
        self.watch.follow(self._path)
        looked = self._looked
        header = looked.header if looked is not None else None
        self._session.controller.look_into(self._path, header, self._reading)

    def _show_progress(self, path: str, share: float) -> None:
        if path == self._path:
            self._page.file.show_progress(path, share)

    def _complain(self, place: str, why: str) -> None:
        """Show an error of a file only once: at its path, not in the preview."""
        if why and place == "data.path":
            self._page.file.problem.hide()

    def shows_error(self, place: str) -> bool:
        """Return whether the preview shows the error of a setting already: an unreadable file.

        Columns that were chosen in another file would only be missing in this one.
        """
        is_bad = self._looked is not None and self._looked.problem is not None
        return is_bad and place in ("data", *COLUMN_SETTINGS)

    def asked(self, place: str) -> str | None:
        """Return a request to show in place of an error at a setting; None: it is an error.

        A missing choice is no error. The request is empty while the file is inspected, and for
        columns that were chosen since.
        """
        if place == "data.path":
            return None if self._path else tr("Choose a file")
        if place not in COLUMN_SETTINGS:
            return None
        if self._looked is None:
            return ""
        options = self._session.setup.data.options
        inputs, target = options.get("inputs"), options.get("target")
        if inputs and target:
            return "" if (inputs, target) == self._chosen else None
        return (
            tr("Choose the target column in the table below")
            if inputs
            else tr("Choose an input column in the table below")
        )

    def show_note(self, note: str) -> None:
        """Show a remark on the data of a run, such as that a file was sampled."""
        self._page.file.show_note(translated(note))

    def _show_file(self, looked: FileSummary) -> None:
        if looked.path != self._path:
            return
        self._looked = looked
        options = self._session.setup.data.options
        self._roles = options.get("inputs"), options.get("target")
        inputs = options.get("inputs") or options.get("columns") or ()
        names = [str(name) for name in inputs] if isinstance(inputs, list) else []
        target: str | list[str] = _targets(options.get("target"), looked.columns)
        chosen = {*names, *target}
        rereads, self._rereads = self._rereads, False
        if looked.problem is None and not (chosen and chosen <= set(looked.columns)):
            names, target = default_columns(looked)
            self._choose_columns(names, target)
        elif looked.problem is None and rereads:
            self._session.controller.reread()
        choices = self._session.setup.data.options.get("columns")
        self._page.file.show_file(
            looked, names, target, choices if isinstance(choices, dict) else {}
        )
        self._complain(*self._session.store.error)
        if self.shows_error(self._session.store.error[0]):
            self._page.form.show_error("", "")

    def _edit_column(self, name: str, key: str, choice: str) -> None:
        """Set a choice for a column of the file; an empty one takes it back."""
        setup = self._session.setup
        given = setup.data.options.get("columns")
        columns: dict[str, object] = {**given} if isinstance(given, dict) else {}
        before = columns.pop(name, {})
        now = {**before} if isinstance(before, dict) else {"as": before}
        now.pop(key, None)
        if key == "as":
            now.pop("format", None)
        now |= {key: choice} if choice else {}
        columns |= {name: now} if now else {}
        options = {**setup.data.options, "columns": columns}
        self._session.controller.change(replace(setup, data=Part(setup.data.name, options)))

    def _choose_columns(self, inputs: list[str], target: str | list[str]) -> None:
        setup = self._session.setup
        named = target if isinstance(target, str) else list[object](target)
        options: dict[str, JsonValue] = {**setup.data.options, "target": named}
        options["inputs"] = list[object](inputs)
        self._chosen = self._roles = (list[object](inputs), named)
        looked, before = self._looked, setup.data.options.get("target")
        if looked is not None:
            options["header"] = looked.header
        if looked is not None and named != before:
            if isinstance(named, list):
                options["classes"] = False
            elif named in looked.columns:
                self._fit_target(options, looked, named)
        setup = replace(setup, data=Part(setup.data.name, options))
        # Raw columns dominate each other and saturate a network's units.
        self._session.controller.change(setup if before else replace(setup, standardize=True))

    def _fit_target(self, options: dict[str, JsonValue], looked: FileSummary, target: str) -> None:
        """Let text be learned as classes, and a date as days."""
        at = looked.columns.index(target)
        kind = looked.details[at].kind if at < len(looked.details) else ""
        options["classes"] = not looked.numeric[at] and kind not in ("days", "date parts")
        if kind in ("days", "date parts"):
            given = options.get("columns")
            columns: dict[str, object] = {**given} if isinstance(given, dict) else {}
            options["columns"] = {**columns, target: {"as": "days"}}

    def _points_option(self) -> Option | None:
        """Return the option of the data that holds points drawn by hand, or None."""
        catalogue, name = self._session.store.catalogue, self._session.setup.data.name
        for entry in catalogue.entries if catalogue is not None else ():
            if entry.kind == "data" and entry.name == name:
                options = entry.options
                return next((option for option in options if option.kind == "points"), None)
        return None

    def _points(self) -> list[list[object]]:
        """Return the points of the setup, or the default points until any are drawn."""
        option = self._points_option()
        if option is None:
            return []
        given = self._session.setup.data.options.get(option.name, option.default)
        points = given if isinstance(given, list) else []
        return [[*point] for point in points if isinstance(point, list)]

    def _put_points(self, points: list[list[object]]) -> None:
        setup, option = self._session.setup, self._points_option()
        if option is not None:
            options = {**setup.data.options, option.name: list[object](points)}
            self._session.controller.change(replace(setup, data=Part(setup.data.name, options)))

    def _draw_point(self, x: float, y: float, kind: int) -> None:
        place: list[object] = [round(x, 3), round(y, 3)]
        self._put_points([*self._points(), [*place, kind][: self._columns()]])

    def _offer_classes(self, run: RunState) -> None:
        if run is self._session.run and run.begun is not None and self.drawn() is not None:
            self._page.boundary.name_classes(class_labels(run.begun.classes))

    def _name_class(self, kind: int, name: str) -> None:
        """Name a class of points; an empty name restores its number."""
        setup = self._session.setup
        names = [name.strip() for name in str(setup.data.options.get("names", "")).split(",")]
        names += [""] * (kind + 1 - len(names))
        # A comma would split the name in two.
        names[kind] = " ".join(name.replace(",", " ").split())
        options = {**setup.data.options, "names": ", ".join(names).rstrip(", ")}
        self._session.controller.change(replace(setup, data=Part(setup.data.name, options)))

    def _columns(self) -> int:
        """Return the numbers per point: points on a curve have no class."""
        option = self._points_option()
        rows = option.default if option is not None else None
        first = rows[0] if isinstance(rows, list) and rows else None
        return len(first) if isinstance(first, list | tuple) else 3

    def _move_point(self, index: int, x: float, y: float) -> None:
        points = self._points()
        if index < len(points):
            points[index][:2] = [round(x, 3), round(y, 3)]
            self._put_points(points)

    def _remove_point(self, index: int) -> None:
        points = self._points()
        self._put_points(points[:index] + points[index + 1 :])


def _targets(given: JsonValue, columns: Sequence[str]) -> list[str]:
    """Return the target columns of a setup; a text may name several with commas between."""
    if isinstance(given, list):
        return [str(name) for name in given]
    text = str(given or "")
    several = [name.strip() for name in text.split(",")]
    return several if text not in columns and set(several) <= set(columns) else [text] * bool(text)


def _reading(options: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the options that say how a file is read and its columns are understood."""
    return {name: options[name] for name in READING if name in options}
