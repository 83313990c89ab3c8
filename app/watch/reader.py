"""A watched loop's file, read while it grows."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import UnreadableWatch, WatchRecord
from gradscribe.playback.translation import tr, translated

MOST_BYTES = 1 << 18
"""Most bytes that are read at once, or those of a record that is longer."""


class WatchReader:
    """Reads the records of a file that have come since the last call."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises `Refused`: it cannot be read, or is no watched loop."""
        self.path = path
        self.trouble = ""
        """Reason for reading nothing more; empty while all is well."""
        self._rest = b""
        self._has_begun = False
        self._file: BinaryIO | None = None
        try:
            # Reading a pipe without a writer would block for ever.
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise Refused(tr("{path} is no plain file", path=path))
            self._file = open(path, "rb")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise Refused(
                tr("{path} cannot be read: {value}", path=path, value=error.strerror or error)
            ) from error
        self.read()
        if self.trouble and not self._has_begun:
            self.close()
            raise Refused(tr("{path} cannot be opened: {trouble}", path=path, trouble=self.trouble))

    def read(self) -> list[WatchRecord]:
        """Return the next records; none if there is nothing new, or the rest is spoilt."""
        if self.trouble or self._file is None:
            return []
        try:
            data = self._rest + self._file.read(MOST_BYTES)
            if not self._has_begun:
                begin = watch_file.check_begin(data)
                self._rest, self._has_begun = data[begin:], begin > 0
                return []
            found, used = watch_file.decode(data)
        except UnreadableWatch as error:
            self.trouble = translated(str(error))
            return []
        except OSError as error:
            self.trouble = tr("it cannot be read any more: {value}", value=error.strerror or error)
            return []
        self._rest = data[used:]
        return found

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
