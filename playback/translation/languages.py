"""The languages that there are catalogues for."""

import os
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from gradscribe.playback.translation import pseudo
from gradscribe.playback.translation.catalogue_file import MessageCatalogue, read

ENGLISH = "en"
DOMAIN = "gradscribe"
VARIABLE = "GRADSCRIBE_LANGUAGE"
"""Environment variable that goes before the setting."""
NAMES = {"zh_CN": "简体中文", ENGLISH: "English", pseudo.CODE: "[Þšéûðö ļöçåļé]"}
"""Languages' own names."""


def folder() -> Path:
    """Return the folder of the catalogues."""
    return Path(str(files("gradscribe.assets"))) / "locale"


def template() -> Path:
    """Return the file with all messages, untranslated."""
    return folder() / f"{DOMAIN}.pot"


def available() -> dict[str, str]:
    """Return code -> own name of each language with a catalogue, English first."""
    try:
        codes = sorted(path.parents[1].name for path in folder().glob(f"*/LC_MESSAGES/{DOMAIN}.po"))
    except OSError:
        codes = []
    if template().is_file():
        codes.append(pseudo.CODE)
    return {code: NAMES.get(code, code) for code in (ENGLISH, *codes)}


def load(code: str) -> MessageCatalogue:
    """Return a language's catalogue. Raises `CatalogueError`."""
    if code == pseudo.CODE:
        return pseudo.catalogue(read(template()))
    return read(folder() / code / "LC_MESSAGES" / f"{DOMAIN}.po")


def wanted(setting: str, system: Iterable[str], environment: Mapping[str, str] = os.environ) -> str:
    """Return the language to use: of the environment, of the ``setting``, or the system's.

    ``system`` are the system's languages in order of preference: ``zh-Hans-CN``, ``zh_CN.UTF-8``.
    The first of them that is English or has a catalogue is used, else English. What the environment
    or the setting name is returned even if it has none, so that it can be reported.
    """
    named = environment.get(VARIABLE, "") or setting
    if named:
        return matching([named]) or named
    return matching(system) or ENGLISH


def matching(names: Iterable[str]) -> str:
    """Return the first of these languages that is available; empty if none is.

    Chinese in traditional characters is no reason for simplified ones.
    """
    codes = list(available())
    for name in names:
        parts = re.split(r"[-_]", name.partition(".")[0].partition("@")[0])
        tongue = parts[0].lower()
        if tongue == "zh" and {"Hant", "TW", "HK", "MO"} & {part.strip() for part in parts[1:]}:
            continue
        for code in codes:
            if code == name or code.partition("_")[0] == tongue:
                return code
        if tongue in ("c", "posix"):
            return ENGLISH
    return ""
