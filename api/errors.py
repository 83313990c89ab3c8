"""Errors of the Python API."""


class RecordingError(RuntimeError):
    """A recording cannot begin here, or has not ended yet."""
