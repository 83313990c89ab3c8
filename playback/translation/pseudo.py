"""A language made by code: brackets, accents, and 40 % longer.

A text without brackets was not marked for translation; without its last bracket it was cut off.
"""

import re

from gradscribe.playback.translation.catalogue_file import MessageCatalogue, TranslatedMessage

CODE = "qps"
FIRST, LAST = "⟦", "⟧"
LONGER = 0.4
"""Translations are longer than English by this part, at most."""
_ACCENTS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ÅßÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž",
)
_FIXED = re.compile(r"(\{\{|\}\}|\{[^{}]*\}|<[^<>]*>|&[a-zA-Z]+;|&#\d+;|&[A-Za-z])")
"""Placeholders, tags, entities and mnemonics: left as they are."""


def text(message: str) -> str:
    """Return a message in the pseudo-locale."""
    parts = _FIXED.split(message)
    parts[::2] = [part.translate(_ACCENTS) for part in parts[::2]]
    letters = sum(map(len, parts[::2]))
    padding = "~" * round(LONGER * letters)
    return f"{FIRST}{''.join(parts)}{' ' if padding else ''}{padding}{LAST}"


def catalogue(template: MessageCatalogue) -> MessageCatalogue:
    """Return the catalogue of the pseudo-locale for the messages of a template."""
    header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
    found = [TranslatedMessage("", "", (header,))]
    for entry in template.entries[1:]:
        forms = (entry.message, entry.plural) if entry.plural else (entry.message,)
        texts = tuple(map(text, forms))
        found.append(
            TranslatedMessage(
                entry.message,
                entry.plural,
                texts,
                origins=entry.origins,
                context=entry.context,
            )
        )
    return MessageCatalogue(found)
