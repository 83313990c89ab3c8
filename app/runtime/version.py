"""Version of the program."""

from importlib import metadata


def version() -> str:
    """Return the version of the package."""
    try:
        return metadata.version("gradscribe")
    except metadata.PackageNotFoundError:
        return "(not installed)"
