"""Settings as a file, to be taken to another computer or given to a class.

The file is JSON: ``{"format": "gradscribe settings", "version": 1, "settings": {key: value}}``.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from gradscribe.app.preferences.rows import BY_KEY, CHOICES
from gradscribe.playback.translation import ngettext, tr

FORMAT = tr("gradscribe settings")
VERSION = 1
MAX_BYTES = 1 << 20
"""Most bytes of a file that is read; a genuine one has some thousand."""
MAX_WHOLE = 10**9
"""Beyond it no whole number is converted: a float may not contain it."""
MAX_NAMED = 5
"""Most settings that a message names."""


class InvalidSettings(ValueError):
    """The bytes are no file of settings; the message says why."""


class ImportedSettings(Struct, frozen=True):
    """Content of a file of settings.

    ``values`` can be put. ``unknown`` are keys that this version does not know, ``unfit`` those
    whose values it does not accept, ``local`` those that only the user may set.
    """

    values: dict[str, bool | float | str]
    unknown: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    local: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return sentences on what is taken over and what is not."""
        count = len(self.values)
        parts = [ngettext("{count} setting taken over", "{count} settings taken over", count)]
        titles = [BY_KEY[key].title for key in self.local]
        if self.unknown:
            parts.append(tr("Not known here: {names}", names=_listed(self.unknown)))
        if self.unfit:
            names = _listed(self.unfit)
            parts.append(tr("Left as it is, because the value does not fit: {names}", names=names))
        if titles:
            parts.append(tr("Set by hand if you want it: {names}", names=_listed(titles)))
        return ". ".join(parts)


class _File(Struct):
    format: str
    version: int
    settings: dict[str, object]


def encode(values: Mapping[str, bool | float | str]) -> bytes:
    """Return the choices among ``values`` that may travel, as a file."""
    chosen = {row.key: values[row.key] for row in CHOICES if row.travels and row.key in values}
    content = msgspec.json.encode(_File(FORMAT, VERSION, dict(chosen)))
    return msgspec.json.format(content, indent=2) + b"\n"


def decode(data: bytes) -> ImportedSettings:
    """Return the settings in the bytes of a file.

    Raises:
        InvalidSettings: it is no such file, or a newer version wrote it.
    """
    if len(data) > MAX_BYTES:
        raise InvalidSettings(tr("the file is too big for settings"))
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidSettings(tr("the file does not contain settings")) from error
    if file.format != FORMAT:
        raise InvalidSettings(tr("the file does not contain settings"))
    if file.version > VERSION:
        raise InvalidSettings(tr("a newer version of Gradscribe wrote the file"))
    return _sorted_out(file.settings)


def _sorted_out(found: Mapping[str, object]) -> ImportedSettings:
    values: dict[str, bool | float | str] = {}
    unknown, unfit, local = [], [], []
    for key, value in found.items():
        row = BY_KEY.get(key)
        if row is None or not row.group:
            unknown.append(key)
            continue
        if isinstance(row.default, float) and type(value) is int and abs(value) < MAX_WHOLE:
            value = float(value)
        if not row.travels:
            local.append(key)
        elif row.accepts(value) and isinstance(value, bool | float | str):
            values[key] = value
        else:
            unfit.append(key)
    return ImportedSettings(values, tuple(unknown), tuple(unfit), tuple(local))


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = [name if len(name) <= 40 else f"{name[:40]}…" for name in names[:MAX_NAMED]]
    more = len(names) - len(shown)
    listed = ", ".join(shown)
    return tr("{names} and {count} more", names=listed, count=more) if more else listed
