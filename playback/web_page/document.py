"""The HTML file of a run: page, style, script and data in one, without anything from elsewhere.

The page may load nothing: its policy allows the one style and the one script that it holds, by
their digests, and nothing else, so that even a name that got past the escaping could not run.
"""

import base64
import hashlib
import html
import json
import re
import tomllib
from importlib.resources import files

from gradscribe.engine.protocol.tape import Finding, Tape
from gradscribe.playback.graph import number_grid
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.translation import language, tr
from gradscribe.playback.web_page.interned import Data
from gradscribe.playback.web_page.number_text import SHADES
from gradscribe.playback.web_page.run_data import PageLimits, RunData

_HTML_TEXT = re.compile(r"@t\((.*?)\)@")
_SCRIPT_TEXT = re.compile(r'\bt\("((?:[^"\\]|\\.)*)"')
"""Text that is translated, in the page and in its script."""
MOST_BYTES = 8_000_000
"""Longest data of a page."""
SCRIPTS = ("state", "card", "wire", "graph", "panels", "player")
"""The parts of the script in their order."""
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks that change the direction of text: they make a program look like another."""


def to_html(
    tape: Tape | Index, source: str = "", title: str = "", findings: tuple[Finding, ...] = ()
) -> str:
    """Return a run as an HTML file that plays it: graph, values and gradients, explanations.

    A run that is too long for a file of about `MOST_BYTES` is there in part, and the page says what
    is left out. The text has no lone surrogates.
    """
    index, limits = index_of(tape), PageLimits()
    texts = _texts()
    data = _json(RunData(index, limits).data(source, title, findings) | {"texts": texts})
    while len(data) > MOST_BYTES and limits.events > 1:
        limits = limits.halved()
        data = _json(RunData(index, limits).data(source, title, findings) | {"texts": texts})
    return _page(title or tr("Run"), data)


def _page(title: str, data: str) -> str:
    style, script = _style(), "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    parts = {
        "@lang@": language().replace("_", "-"),
        "@policy@": _policy(style, script),
        "@title@": html.escape(_BIDI.sub("\ufffd", title)),
        "@style@": style,
        "@script@": script,
        "@data@": data,
    }
    marked = _HTML_TEXT.sub(lambda found: html.escape(tr(found[1])), _asset("page.html"))
    page = re.sub("|".join(parts), lambda found: parts[found[0]], marked)
    return page.encode("utf-8", "replace").decode("utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _texts() -> Data:
    """Return the translations of the script's text; none if the language is English."""
    found = _SCRIPT_TEXT.findall("".join(_asset(f"{name}.js") for name in SCRIPTS))
    pairs = {text: tr(text) for text in (json.loads(f'"{part}"') for part in found)}
    return {text: words for text, words in pairs.items() if words != text}


def _asset(name: str) -> str:
    return files("gradscribe.assets").joinpath("web_page", name).read_text(encoding="utf-8")


def _style() -> str:
    """Return the style sheet with the colours of both themes as custom properties."""
    return (
        _asset("page.css").replace("@light@", _tokens("light")).replace("@dark@", _tokens("dark"))
    )


def _tokens(theme: str) -> str:
    text = files("gradscribe.assets").joinpath("themes", f"{theme}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    is_dark = bool(table.pop("dark"))
    lines = [f"color-scheme: {theme};"]
    for group in table.values():
        lines += [f"--{name.replace('_', '-')}: {code};" for name, code in group.items()]
    shades = number_grid.table(is_dark)
    for shade in range(SHADES):
        place = round(shade * (number_grid.LEVELS - 1) / (SHADES - 1))
        red, green, blue = (int(band) for band in shades[place])
        lines.append(f"--heat-{chr(ord('a') + shade)}: #{red:02x}{green:02x}{blue:02x};")
    return " ".join(lines)


def _json(data: Data) -> str:
    """Return data as JSON that is safe in a script element, in ASCII."""
    text = json.dumps(_plain(data), separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _plain(item: object) -> object:
    """Return data whose texts show marks of text direction instead of obeying them."""
    if isinstance(item, str):
        return item if item.isascii() else _BIDI.sub("\ufffd", item)
    if isinstance(item, dict):
        return {str(key): _plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_plain(part) for part in item]
    return item
