"""A layout of panels as data, and as the bytes of a file."""

import msgspec
from msgspec import Struct

from gradscribe.app.files import checksummed
from gradscribe.app.files.checksummed import DamagedFile
from gradscribe.playback.translation import tr

MAX_BYTES = 1 << 20
"""Most bytes of a layout that is read."""
MAX_PANELS = 200
MAX_NAME = 60
"""Most characters of a layout's name."""


class AreaLayout(Struct, frozen=True):
    """Arrangement of one page: the panels out of their places, and the gutters of the others."""

    out: tuple[str, ...] = ()
    """Names of the panels that have left their places."""
    closed: tuple[str, ...] = ()
    """Those of them that the user has hidden."""
    docks: bytes = b""
    """State of the docks, as `QMainWindow.saveState` gives it."""
    gutters: dict[str, bytes] = {}


class WindowLayout(Struct, frozen=True):
    """Arrangement of a window."""

    name: str = ""
    areas: dict[str, AreaLayout] = {}
    flags: dict[str, bool] = {}
    """The settings that show and hide whole columns."""

    def validated(self) -> "WindowLayout":
        """Return the layout.

        Raises:
            ValueError: it has more panels or a longer name than any layout.
        """
        names = [name for area in self.areas.values() for name in (*area.out, *area.closed)]
        if len(names) > MAX_PANELS or len(self.name) > MAX_NAME:
            raise ValueError(tr("it is no layout of this window"))
        return self


def encode(layout: WindowLayout) -> bytes:
    """Return the bytes of a layout."""
    return checksummed.wrap(msgspec.json.encode(layout))


def decode(data: bytes) -> WindowLayout:
    """Decode the bytes of a layout.

    Raises:
        DamagedFile: it is no layout, or it was changed.
        NewerVersion: a later version wrote it.
    """
    if len(data) > MAX_BYTES:
        raise DamagedFile(tr("it is far too long"))
    payload = checksummed.unwrap(data)
    try:
        return msgspec.json.decode(payload, type=WindowLayout).validated()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise DamagedFile(tr("it does not contain a layout")) from error
