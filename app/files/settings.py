"""Persistent settings: the declared settings, stored in one INI file."""

import contextlib
import hashlib
import itertools
import os
import threading
from collections import Counter
from pathlib import Path

import msgspec
from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QStandardPaths, Signal

from gradscribe.app.files import atomic, settings_file
from gradscribe.app.files.shipped import is_shipped
from gradscribe.app.preferences.rows import BY_KEY, CHOICES, SETTINGS, is_progress
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

MAX_TRUSTED = 500
"""Most trusted programs that are stored."""
VERSIONS = 5
"""Most texts of a file that stay trusted."""
TRUSTED, RECENT, LESSONS = "trusted", "recent", "lessons"
SHARED = (TRUSTED, RECENT, LESSONS)
"""Settings that all open windows add to. Of the others each window has its own, and the next window
begins with those that were set last: a choice in one window changes nothing in another."""
_READ = "read-"
MAX_RECENT = 10
"""Most recent files that are offered."""
STORED_RECENT = 30
"""Most recent files that are stored: those that are gone must not drive out the others."""
KEYS = (*(row.key for row in SETTINGS if row.is_stored), "recent", "trusted")


def app_folder(kind: QStandardPaths.StandardLocation) -> Path:
    """Return the application's folder of that kind, created if possible."""
    path = Path(QStandardPaths.writableLocation(kind))
    with contextlib.suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return path


class _Teller(QObject):
    written = Signal(bool, object)
    """Emitted in the writing thread: True on success, and the file's values now."""


class Settings(QObject):
    """The settings, stored in the file ``path``; None stores nothing."""

    changed = Signal(str)
    failed = Signal(str)
    """Carries a message that the file cannot be written; emitted once."""

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._has_failed = False
        self.trouble = ""
        """Message about what could not be read from the file; empty if all could."""
        self._held: dict[str, object] = {}
        self._lessons: object = None
        """Progress in the lessons as the file had it when it was read last."""
        self._unwritten: dict[str, object] = {}
        self._removed: set[str] = set()
        """Recent files that the user removed."""
        self._being_written = 0
        self._writer: threading.Thread | None = None
        """Writes the file, because `QSettings.sync` blocks; it has no reference to this object.

        No `BackgroundWorker`: the deletion of this object does not wait for it, but the end of the
        process does, after the application is gone.
        """
        # A child of the application: the writer may have the last reference to it, and a QObject
        # must not be destroyed in that thread.
        self._teller = _Teller(QCoreApplication.instance())
        self._teller.written.connect(self._take)
        # Not QTimer.singleShot with a bound method: it would own the last reference to this object
        # and destroy it within its own event.
        self._soon = single_shot(self, self._write)
        self._folder = path.parent if path else None
        self._file = self._opened(path) if path else None
        self._lessons = self._held.get(LESSONS)

    @classmethod
    def of_user(cls) -> "Settings":
        """Return the settings of the current user."""
        where = app_folder(QStandardPaths.StandardLocation.AppConfigLocation)
        # Qt writes to a temporary file with a suffix of six letters, which a kill leaves behind.
        atomic.remove_partial(where, r"gradscribe\.ini\.[A-Za-z]{6}")
        return cls(where / "gradscribe.ini")

    @property
    def folder(self) -> Path | None:
        """The folder of the settings, also of what is stored next to them; None stores nothing."""
        return self._folder

    def _opened(self, path: Path) -> Path | None:
        sound, self.trouble = settings_file.vet(path)
        if sound is not None and settings_file.is_garbled(sound):
            sound, self.trouble = settings_file.reset_damaged(path)
        if sound is None:
            return None
        self._held = settings_file.read(sound, KEYS)
        lessons = self._held.get(LESSONS)
        if lessons is not None and not is_progress(lessons):
            self.trouble = settings_file.back_up(path, tr("Your progress in the lessons"))
            del self._held[LESSONS]
            settings_file.write(sound, {LESSONS: None})
        return sound

    def flag(self, key: str) -> bool:
        """Return a boolean setting."""
        value = self._row(key)
        return value if isinstance(value, bool) else False

    def number(self, key: str) -> float:
        """Return a numeric setting."""
        value = self._row(key)
        return value if isinstance(value, float) else 0.0

    def text(self, key: str) -> str:
        """Return a text setting."""
        return str(self._row(key))

    def put(self, key: str, value: bool | float | str) -> None:
        """Store a setting and emit `changed`.

        Raises:
            ValueError: the setting does not accept the value.
        """
        row = BY_KEY[key]
        if not row.accepts(value):
            raise ValueError(f"{key} cannot be {value!r}")
        if value != self._row(key):
            self._put(key, value)
            self.changed.emit(key)

    def value(self, key: str) -> bool | float | str:
        """Return a setting of any kind."""
        value = self._row(key)
        assert isinstance(value, bool | float | str)
        return value

    def is_default(self, key: str) -> bool:
        """Return whether a setting is as it was at first."""
        return self._row(key) == BY_KEY[key].default

    def reset(self, key: str) -> None:
        """Give a setting its default."""
        self.put(key, BY_KEY[key].default)

    def choices(self) -> dict[str, bool | float | str]:
        """Return the value of every setting that is a choice of the user."""
        return {row.key: self.value(row.key) for row in CHOICES}

    def shape(self, key: str) -> QByteArray:
        """Return a stored window geometry or splitter state; empty if there is none."""
        value = self._held.get(f"{settings_file.SHAPES}/{key}")
        return value if isinstance(value, QByteArray) else QByteArray()

    def put_shape(self, key: str, shape: QByteArray) -> None:
        """Store a window geometry or splitter state."""
        self._put(f"{settings_file.SHAPES}/{key}", shape)

    def recent(self) -> tuple[str, ...]:
        """Return the files opened or saved last that still exist, newest first."""
        there = (path for path in self._recent() if os.path.isfile(path))
        return tuple(itertools.islice(there, MAX_RECENT))

    def stored_recent(self) -> tuple[str, ...]:
        """Return the files opened or saved last, newest first, those that are gone, too."""
        return tuple(self._recent()[:MAX_RECENT])

    def _recent(self) -> list[str]:
        value = self._held.get(RECENT)
        paths = value[:MAX_TRUSTED] if isinstance(value, list) else [value]
        return [path for path in paths if isinstance(path, str) and path]

    def remove_recent(self, path: str) -> None:
        """Remove ``path`` from the recent files, also from those of other windows."""
        self._removed.add(path)
        self._put(RECENT, [other for other in self._recent() if other != path])
        self.changed.emit(RECENT)

    def add_recent(self, path: str) -> None:
        """Put ``path`` on top of the recent files."""
        self._removed.discard(path)
        others = [other for other in self._recent() if other != path]
        self._put(RECENT, [path, *others][:STORED_RECENT])
        self.changed.emit(RECENT)

    def is_trusted(self, path: str, source: str) -> bool:
        """Return whether the user has trusted the program ``source`` in the file ``path``.

        What comes with Gradscribe is trusted wherever it lies.
        """
        mark = _mark(path, source)
        found = any(stored.rpartition("/")[2] == mark for stored in self._trusted())
        return found or is_shipped(source)

    def trust(self, path: str, source: str) -> None:
        """Store that the user trusts the program ``source`` in the file ``path``."""
        self._remember(path, _mark(path, source))

    def is_read(self, path: str, source: str) -> bool:
        """Return whether the user has read, run and saved this program from outside."""
        return any(
            stored.rpartition("/")[2] == _READ + _mark(path, source) for stored in self._trusted()
        )

    def mark_read(self, path: str, source: str) -> None:
        """Store that the user has run the program from outside, and saved it here.

        It still runs under the policy.
        """
        self._remember(path, _READ + _mark(path, source))

    def _remember(self, path: str, mark: str) -> None:
        mark = f"{_home(path)}/{mark}"
        stored = [mark, *(other for other in self._trusted() if other != mark)]
        self._put(TRUSTED, _latest(stored))

    def _trusted(self) -> list[str]:
        return settings_file.as_list(self._held.get(TRUSTED))

    def _row(self, key: str) -> object:
        row = BY_KEY[key]
        value = self._held.get(key)
        if isinstance(row.default, bool) and isinstance(value, str):
            value = {"true": True, "false": False}.get(value)
        if isinstance(row.default, float) and isinstance(value, str | int):
            value = _float(value)
        return value if row.accepts(value) else row.default

    def _put(self, key: str, value: object) -> None:
        self._held[key] = value
        row = BY_KEY.get(key)
        if self._file is not None and (row is None or row.is_stored):
            self._unwritten[key] = value
            if not self._soon.isActive():
                self._soon.start()

    def _write(self) -> None:
        """Write the changed settings in a thread."""
        self._soon.stop()
        path, values, self._unwritten = self._file, self._unwritten, {}
        if path is None or not values:
            return
        self._writer = threading.Thread(
            target=_write,
            args=(path, values, self._lessons, self._writer, self._teller, {*self._removed}),
            name="settings",
        )
        self._being_written += 1
        self._writer.start()

    def _take(self, is_written: bool, found: dict[str, object]) -> None:
        """Take over what another window added, unless something was changed here since."""
        self._being_written -= 1
        if is_written and not self._being_written and not self._unwritten:
            self._held |= {key: found[key] for key in SHARED if key in found}
            self._lessons = found.get(LESSONS)
        if not is_written and not self._has_failed:
            self._has_failed = True
            self.failed.emit(
                tr("Your choices are not remembered: {file} cannot be written", file=self._file)
            )

    def flush(self) -> None:
        """Write the changed settings and wait for it."""
        self._write()
        if self._writer is not None:
            self._writer.join()
            self._writer = None


def _write(
    path: Path,
    values: dict[str, object],
    lessons: object,
    before: threading.Thread | None,
    teller: _Teller,
    removed: set[str],
) -> None:
    """Write after the thread ``before`` has ended; ``lessons``: the progress known until then.

    ``removed``: recent files that no window is to have any more.
    """
    if before is not None:
        before.join()
    # Another window may have added to the lists meanwhile.
    for key, trim in ((TRUSTED, _latest), (RECENT, lambda paths: paths[:MAX_TRUSTED])):
        if key in values:
            mine = settings_file.as_list(values[key])
            stored = settings_file.as_list(settings_file.read(path, (key,)).get(key))
            merged = dict.fromkeys([*mine, *stored])
            values[key] = trim([entry for entry in merged if key != RECENT or entry not in removed])
    if LESSONS in values:
        there = settings_file.read(path, (LESSONS,)).get(LESSONS)
        values[LESSONS] = _merged_progress(lessons, values[LESSONS], there)
    is_written = settings_file.write(path, values)
    teller.written.emit(is_written, settings_file.read(path, KEYS))


def _merged_progress(base: object, mine: object, stored: object) -> str:
    """Return ``stored`` with the lessons in which ``mine`` differs from ``base``."""
    known, now, there = map(_lessons, (base, mine, stored))
    if not now:
        return "{}"  # All progress was deleted.
    changed = {name: state for name, state in now.items() if known.get(name) != state}
    return msgspec.json.encode({**there, **changed}).decode()


def _lessons(text: object) -> dict[str, bytes]:
    """Return the entries undecoded: a damaged one does not affect the others."""
    if text is None or not is_progress(text):
        return {}
    return {
        name: msgspec.Raw(raw)
        for name, raw in msgspec.json.decode(str(text), type=dict[str, msgspec.Raw]).items()
    }


def _mark(path: str, source: str) -> str:
    return hashlib.sha256(f"{path}\0{source}".encode("utf-8", "replace")).hexdigest()


def _home(path: str) -> str:
    return _mark(path, "")[:16]


def _latest(marks: list[str]) -> list[str]:
    """Return marks with the latest few of each file alone.

    A file that is saved again and again must not drive out what is known of others.
    """
    counts: Counter[str] = Counter()
    found = []
    for mark in marks:
        home = mark.partition("/")[0]
        counts[home] += 1
        if counts[home] <= VERSIONS:
            found.append(mark)
    return found[:MAX_TRUSTED]


def _float(text: str | int) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
