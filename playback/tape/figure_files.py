"""Files of figures that a program saved with ``savefig`` and that were not written."""

from pathlib import PurePath, PureWindowsPath

from gradscribe.engine.protocol.figures import Figure
from gradscribe.playback.translation import tr

NAMED = 2
"""Files that were not written, of which the names are listed."""


def unwritten_files(figures: tuple[Figure, ...]) -> str:
    """Return which files of ``savefig`` were not written, and what to do; empty if all were."""
    names = [figure.name for figure in figures if figure.name and not figure.is_written]
    if not names:
        return ""
    some = ", ".join(dict.fromkeys(names[:NAMED]))
    more = tr(" and {value} more", value=len(names) - NAMED) if len(names) > NAMED else ""
    verb = "were" if len(names) > 1 else "was"
    return tr(
        "{some}{more} {verb} not written: programs use no files here.",
        some=some,
        more=more,
        verb=verb,
    )


def files_to_save(figures: tuple[Figure, ...]) -> dict[str, bytes]:
    """Return name and bytes of each file of ``savefig`` that was not written.

    Of several with one name the last, as the program would have left it. A file that was too large
    to be sent is the picture that is shown.
    """
    files = {}
    for figure in figures:
        if not figure.name or figure.is_written:
            continue
        # Whatever the program called it, it stays in the folder that the user chooses.
        name = PurePath(PureWindowsPath(figure.name).name).name
        stem = name if name.strip(". ") else "figure"
        if figure.file:
            files[stem if stem == name else f"figure.{figure.file_type}"] = figure.file
        else:
            files[f"{PurePath(stem).stem}.{figure.picture_type}"] = figure.picture
    return files
