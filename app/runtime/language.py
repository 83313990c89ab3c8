"""The language of the window: of the environment, of the settings or of the system."""

import re
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QLibraryInfo,
    QLocale,
    QStandardPaths,
    QTranslator,
)
from PySide6.QtGui import QFontDatabase

from gradscribe.playback import translation
from gradscribe.playback.translation import languages

_SETTING = re.compile(rb"^language=([A-Za-z_\-]{1,20})\r?$", re.MULTILINE)
_MOST = 1 << 20
"""Most bytes of the settings file that are searched."""
_SCRIPTS = {
    "zh": QFontDatabase.WritingSystem.SimplifiedChinese,
    "ja": QFontDatabase.WritingSystem.Japanese,
    "ko": QFontDatabase.WritingSystem.Korean,
}
"""Scripts that a system may lack a font for."""


def use_language() -> None:
    """Choose the language, before the modules are imported that have texts in tables.

    The setting is read from the file and not through `Settings`, which is such a module.
    """
    QCoreApplication.setApplicationName("gradscribe")
    where = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation)
    setting = stored(Path(where) / "gradscribe.ini")
    translation.choose(languages.wanted(setting, QLocale.system().uiLanguages()))


def stored(path: Path) -> str:
    """Return the language in a settings file; empty for that of the system."""
    try:
        with path.open("rb") as file:
            found = _SETTING.search(file.read(_MOST))
    except OSError:
        return ""
    return found[1].decode() if found else ""


def translate_qt(app: QCoreApplication) -> None:
    """Give Qt's own buttons and menus the process's language, if Qt has it."""
    if translation.language() == languages.ENGLISH:
        return
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{translation.language()}", folder):
        app.installTranslator(translator)


def trouble() -> str:
    """Return a message if the language cannot be used or seen; empty if all is well."""
    if translation.trouble():
        return translation.trouble()
    script = _SCRIPTS.get(translation.language().partition("_")[0])
    if script is None or script in QFontDatabase.writingSystems():
        return ""
    name = QFontDatabase.writingSystemName(script)
    return (
        f"No font on this system has {name}: install one (on Debian fonts-noto-cjk), or choose "
        "English in the settings"
    )
