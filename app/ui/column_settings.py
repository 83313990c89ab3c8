"""Widths of columns in the settings."""

import msgspec

from gradscribe.app.files.settings import Settings
from gradscribe.widgets.base.columns import widths as column_widths

KEY = "columns"
MAX_TEXT = 100_000
"""Most characters of the setting that are read."""


def recall(settings: Settings) -> None:
    """Let tables have the widths that were chosen; what cannot be read is as if none were."""
    try:
        text = settings.text(KEY)[:MAX_TEXT]
        column_widths.choose(msgspec.json.decode(text, type=dict[str, dict[int, int]]))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        column_widths.choose({})


def remember(settings: Settings) -> None:
    """Store the widths that were chosen."""
    text = msgspec.json.encode(column_widths.chosen()).decode()
    if text != settings.text(KEY):
        settings.put(KEY, text)
