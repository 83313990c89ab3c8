"""Named layouts: a folder with a file for each."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from gradscribe.app.files import atomic, documents
from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.app.files.documents import Refused
from gradscribe.app.panels import layout_file
from gradscribe.app.panels.layout_file import MAX_BYTES, MAX_NAME, WindowLayout
from gradscribe.playback.translation import tr

ENDING = ".layout"
MOST = 50
"""Most files that are read."""


@dataclass(frozen=True)
class StoredLayout:
    """A layout in the folder, or the reason why its file cannot be read."""

    path: Path
    layout: WindowLayout | None
    trouble: str = ""

    @property
    def name(self) -> str:
        """The name that the user gave it, or that of its file."""
        return self.layout.name if self.layout is not None else self.path.name


class LayoutStore:
    """The user's layouts in the folder ``where``; None stores nothing."""

    def __init__(self, where: Path | None) -> None:
        self._where = where

    def all(self) -> list[StoredLayout]:
        """Return all layouts by name; what cannot be read stays where it is and says why."""
        if self._where is None:
            return []
        try:
            paths = sorted(path for path in self._where.iterdir() if path.suffix == ENDING)
        except OSError:
            return []
        return sorted(map(_read, paths[:MOST]), key=lambda stored: stored.name.casefold())

    def save(self, layout: WindowLayout) -> None:
        """Store a layout in place of that with the same name.

        Raises:
            Refused: the name cannot be used, or the file cannot be written.
        """
        if not layout.name or len(layout.name) > MAX_NAME or not layout.name.isprintable():
            raise Refused(tr("A layout's name has 1 to {most} printable characters", most=MAX_NAME))
        if self._where is None:
            raise Refused(tr("Layouts cannot be saved: there is no folder for settings"))
        path = self._path(layout.name)
        try:
            self._where.mkdir(parents=True, exist_ok=True)
            atomic.write(path, layout_file.encode(layout))
        except OSError as error:
            raise Refused(
                tr("{path} cannot be written: {reason}", path=path, reason=atomic.reason(error))
            ) from error

    def rename(self, stored: StoredLayout, name: str) -> None:
        """Give a layout another name.

        Raises:
            Refused: another one has that name, or a file cannot be written.
        """
        if stored.layout is None:
            raise Refused(
                tr("{path} cannot be read: {reason}", path=stored.path, reason=stored.trouble)
            )
        if any(other.name == name for other in self.all()):
            raise Refused(tr("There is a layout {name} already", name=name))
        layout = stored.layout
        self.save(WindowLayout(name=name, areas=layout.areas, flags=layout.flags))
        self.delete(stored)

    def delete(self, stored: StoredLayout) -> None:
        """Delete a layout's file.

        Raises:
            Refused: it cannot be deleted.
        """
        try:
            stored.path.unlink(missing_ok=True)
        except OSError as error:
            raise Refused(
                tr(
                    "{path} cannot be deleted: {reason}",
                    path=stored.path,
                    reason=atomic.reason(error),
                )
            ) from error

    def _path(self, name: str) -> Path:
        assert self._where is not None
        same = (stored.path for stored in self.all() if stored.name == name)
        # Names may have characters that file names cannot, and differ in case alone.
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]
        return next(same, self._where / f"{digest}{ENDING}")


def _read(path: Path) -> StoredLayout:
    try:
        with documents.open_plain(path) as file:
            return StoredLayout(path, layout_file.decode(file.read(MAX_BYTES + 1)))
    except (DamagedFile, NewerVersion, Refused) as error:
        return StoredLayout(path, None, str(error))
    except OSError as error:
        return StoredLayout(path, None, atomic.reason(error))
