"""Text in the user's language: gettext catalogues, chosen when the process starts.

`tr`, `pgettext` and `ngettext` translate where text is shown, in tables of a module as well: a
process chooses its language before it imports them. `translated` does the same for text of the
engine, which always speaks English. Until `choose` is called everything is English.
"""

from gettext import NullTranslations

from gradscribe.playback.translation.catalogue_file import CatalogueError
from gradscribe.playback.translation.languages import ENGLISH, NAMES, available, load
from gradscribe.playback.translation.templates import Templates

__all__ = [
    "ENGLISH",
    "NAMES",
    "available",
    "choose",
    "language",
    "ngettext",
    "pgettext",
    "tr",
    "translated",
]


class _Current:
    """The process's language."""

    def __init__(self) -> None:
        self.language = ENGLISH
        self.texts: NullTranslations = NullTranslations()
        self.templates = Templates(())
        self.trouble = ""
        self.was_asked = False
        """True once a text was translated: tables made before `choose` are in English for good."""


_current = _Current()


def choose(code: str) -> None:
    """Use the language ``code``, ``zh_CN`` say. If that fails English is used, see `trouble`."""
    _current.language, _current.trouble = ENGLISH, ""
    _current.texts, _current.templates = NullTranslations(), Templates(())
    if code == ENGLISH:
        return
    if code not in available():
        _current.trouble = f"There is no translation for the language {code}: texts are in English"
        return
    try:
        catalogue = load(code)
        _current.texts = catalogue.translations()
    except CatalogueError as error:
        _current.trouble = f"The translation {code} is not used, texts are in English: {error}"
        return
    _current.language, _current.templates = code, Templates(catalogue.engine_texts())


def trouble() -> str:
    """Return the reason, in English, why the chosen language is not used; empty if it is."""
    return _current.trouble


def language() -> str:
    """Return the code of the process's language."""
    return _current.language


def was_asked() -> bool:
    """Return whether a text has been translated yet."""
    return _current.was_asked


def tr(message: str, /, **values: object) -> str:
    """Return ``message`` in the process's language, with ``values`` in its ``{placeholders}``.

    Without values braces stay as they are.
    """
    _current.was_asked = True
    # The empty message is the catalogue's header.
    found = _current.texts.gettext(message) if message else ""
    return _filled(found, message, values)


def ngettext(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Return the form for ``count``, which the placeholder ``{count}`` shows."""
    _current.was_asked = True
    english = singular if count == 1 else plural
    found = _current.texts.ngettext(singular, plural, count)
    return _filled(found, english, {"count": count, **values})


def pgettext(context: str, message: str, /, **values: object) -> str:
    """Return ``message`` in the process's language, as it is called in a ``context``.

    For words that are two in other languages: examples to open, and examples to learn from.
    """
    _current.was_asked = True
    return _filled(_current.texts.pgettext(context, message), message, values)


def translated(text: str) -> str:
    """Return text of the engine in the process's language, as far as the catalogue has it.

    The engine fills its templates in English, on whatever machine it runs; here they are recognized
    and their values put into the translated ones.
    """
    if _current.language == ENGLISH or not text:
        return text
    return _current.templates.translated(text)


def _filled(text: str, english: str, values: dict[str, object]) -> str:
    """Fill in values. A translation with a wrong placeholder gives way to the English text."""
    if not values:
        return text
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError, AttributeError):
        return english.format(**values)
