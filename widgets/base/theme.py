"""Colours and fonts: tokens read from ``assets/themes``, and the palette and style sheet."""

import re
import tomllib
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from importlib.resources import files

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette

from gradscribe.widgets.base import stylesheet

THEMES = ("light", "dark", "contrast-light", "contrast-dark")
STROKES = 1.6
"""Factor of the widths of lines in a theme with high contrast."""

_UI = ("Inter", "Segoe UI Variable Text", "Segoe UI", "SF Pro Text", "Noto Sans", "DejaVu Sans")
_MONO = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Consolas", "DejaVu Sans Mono")


class InvalidTheme(ValueError):
    """Theme file with a token that is missing, unknown or not a colour."""


@dataclass(frozen=True, eq=False)
class Theme:
    """The colours of the interface, one token per meaning.

    ``*_soft`` tokens are quiet fills on which the token itself is readable as text.
    """

    name: str
    dark: bool

    canvas: QColor
    """Background of the graph."""
    dots: QColor
    surface: QColor
    """Fill of cards, fields and lists."""
    panel: QColor
    panel2: QColor
    """Background between panels; chips and quiet buttons."""
    line: QColor
    """Hairline separators; never the only sign of anything."""
    line_strong: QColor
    """Borders that must be visible."""
    shadow: QColor

    ink: QColor
    ink2: QColor
    ink3: QColor
    error: QColor
    """Errors. Red would be too near to the pink of gradients, orange-brown means data."""
    error_soft: QColor

    edge: QColor
    forward: QColor
    forward_soft: QColor
    backward: QColor
    backward_soft: QColor
    parameter: QColor
    parameter_soft: QColor
    data: QColor
    data_soft: QColor
    constant: QColor
    constant_soft: QColor
    module: QColor
    module_soft: QColor
    frame_even: QColor
    frame_odd: QColor
    frame_line: QColor

    selection: QColor
    selection_soft: QColor
    on_selection: QColor
    """Text on a selection-coloured button."""

    scale: float = 1.0
    """Text scale of panels, 1 by default; the graph has its own zoom."""
    high_contrast: bool = False
    """True if text has a contrast of 7:1 at least, and lines are thicker."""

    @staticmethod
    @cache
    def load(name: str) -> "Theme":
        """Return one of `THEMES`.

        Raises:
            FileNotFoundError: there is no such theme.
            InvalidTheme: its tokens are not exactly those of this class.
        """
        text = (
            files("gradscribe.assets")
            .joinpath("themes", f"{name}.toml")
            .read_text(encoding="utf-8")
        )
        return parse(name, text)

    def scaled(self, scale: float) -> "Theme":
        """Return the same colours with another text scale."""
        return self if scale == self.scale else _scaled(self.name, scale)

    def font(self, px: float, weight: int = 400) -> QFont:
        """Return the interface font, ``px`` high at text scale 1."""
        return ui_font(px * self.scale, weight)

    def stroke(self, width: float) -> float:
        """Return the width of a line that is ``width`` pixels wide in the usual themes."""
        return width * STROKES if self.high_contrast else width

    def color(self, token: str) -> QColor:
        """Return the colour of a token."""
        color = getattr(self, token)
        assert isinstance(color, QColor)
        return color

    def palette(self) -> QPalette:
        """Return the palette for the Fusion style: active, inactive and disabled."""
        palette = QPalette()
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            for role, token in _ROLES.items():
                palette.setColor(group, role, self.color(token))
        quiet = mix(self.ink3, self.panel, 0.6)
        for role, token in _ROLES.items():
            muted = quiet if role in _TEXT_ROLES else self.color(token)
            palette.setColor(QPalette.ColorGroup.Disabled, role, muted)
        disabled = QPalette.ColorGroup.Disabled
        palette.setColor(disabled, QPalette.ColorRole.Highlight, self.line)
        palette.setColor(disabled, QPalette.ColorRole.Accent, self.line)
        return palette

    @property
    def disabled(self) -> QColor:
        """Colour of the text of controls that are off."""
        return mix(self.ink3, self.panel, 0.6)

    def stylesheet(self, scale: float = 1.0) -> str:
        """Return the style sheet of the whole window; see `widgets.base.stylesheet` for its names.

        ``scale`` is the factor of all type sizes (1.5 for a lecture room).
        """
        tokens = {token: self.color(token).name() for token in token_names()}
        tokens["selection_hover"] = mix(self.selection, self.ink, 0.86).name()
        tokens["disabled"] = self.disabled.name()
        tokens["check"] = "check-dark" if self.dark else "check-light"
        sheet = self.thicken(stylesheet.fill(tokens, mono_families(), scale))
        # Widgets take another font of the application only with another sheet.
        return f"{sheet}\n/* {', '.join(ui_families())} */\n"

    def thicken(self, sheet: str) -> str:
        """Return a style sheet with the borders of this theme."""
        if not self.high_contrast:
            return sheet
        wider = {"1": "2", "2": "3"}
        return re.sub(r"\b([12])px solid", lambda found: f"{wider[found[1]]}px solid", sheet)


def parse(name: str, text: str) -> Theme:
    """Return the theme written in ``text`` (TOML: ``dark``, ``contrast``, and tables of tokens).

    Raises:
        InvalidTheme: a token is missing, unknown or not a colour, or the text is not TOML.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTheme(f"{name}: {error}") from error
    dark, high = table.pop("dark", False), table.pop("contrast", False)
    colors: dict[str, QColor] = {}
    for tokens in table.values():
        for token, code in tokens.items():
            color = QColor(str(code))
            if not color.isValid():
                raise InvalidTheme(f"{name}: {token} is not a colour: {code}")
            colors[token] = color
    wrong = set(colors) ^ set(token_names())
    if wrong:
        raise InvalidTheme(f"{name}: missing or unknown tokens: {', '.join(sorted(wrong))}")
    return Theme(name=name, dark=bool(dark), scale=1.0, high_contrast=bool(high), **colors)


def token_names() -> tuple[str, ...]:
    """Return the names of all colour tokens."""
    return tuple(field.name for field in fields(Theme) if field.type is QColor)


@lru_cache(maxsize=64)
def _scaled(name: str, scale: float) -> Theme:
    return replace(Theme.load(name), scale=scale)


def mix(front: QColor, back: QColor, share: float) -> QColor:
    """Return ``front`` laid over ``back`` with opacity ``share`` (0 to 1); both are opaque."""
    return _mixed(front.rgb(), back.rgb(), share)


@lru_cache(maxsize=4096)
def _mixed(front: int, back: int, share: float) -> QColor:
    bands = [
        round((front >> shift & 255) * share + (back >> shift & 255) * (1 - share))
        for shift in (16, 8, 0)
    ]
    return QColor(*bands)


def faded(color: QColor, opacity: float) -> QColor:
    """Return ``color`` with its opacity set (0 to 1)."""
    return _faded(color.rgb(), opacity)


@lru_cache(maxsize=1024)
def _faded(rgb: int, opacity: float) -> QColor:
    result = QColor(rgb)
    result.setAlphaF(opacity)
    return result


def contrast(a: QColor, b: QColor) -> float:
    """Return the WCAG 2 contrast ratio of two opaque colours, 1 to 21."""
    light, dark = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: QColor) -> float:
    def linear(c: float) -> float:
        return c / 12.92 if c <= 0.04045 else float(((c + 0.055) / 1.055) ** 2.4)

    red, green, blue = linear(color.redF()), linear(color.greenF()), linear(color.blueF())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class _Chosen:
    """Families that the user chose; empty for none."""

    ui, mono = "", ""


def choose_families(ui: str, mono: str) -> bool:
    """Put these families before the usual ones, for all text from now on; return if that changed.

    Themes that were loaded before show the old ones: `Theme.load` returns new ones.
    """
    if (ui, mono) == (_Chosen.ui, _Chosen.mono):
        return False
    _Chosen.ui, _Chosen.mono = ui, mono
    for cached in (ui_families, mono_families, _font, Theme.load, _scaled):
        cached.cache_clear()
    return True


@cache
def ui_families() -> tuple[str, ...]:
    """Return the interface font families available on this system, best first."""
    return _present((_Chosen.ui, *_UI), QFontDatabase.SystemFont.GeneralFont)


@cache
def mono_families() -> tuple[str, ...]:
    """Return the monospaced font families available on this system, best first."""
    return _present((_Chosen.mono, *_MONO), QFontDatabase.SystemFont.FixedFont)


def _present(wanted: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> tuple[str, ...]:
    have = set(QFontDatabase.families())
    own = QFontDatabase.systemFont(fallback).family()
    return tuple(dict.fromkeys((*(family for family in wanted if family in have), own)))


def ui_font(px: float, weight: int = 400, tabular: bool = True) -> QFont:
    """Return the interface font, ``px`` high at 100 %; tabular figures keep numbers in columns."""
    return QFont(_font(px, weight, tabular, False))


def mono_font(px: float, weight: int = 400) -> QFont:
    """Return the font for code and shapes, ``px`` high at 100 %."""
    return QFont(_font(px, weight, False, True))


@cache
def _font(px: float, weight: int, tabular: bool, mono: bool) -> QFont:
    font = QFont(list(mono_families() if mono else ui_families()))
    font.setPixelSize(max(1, round(px)))
    font.setWeight(QFont.Weight(min(_WEIGHTS, key=lambda known: abs(known - weight))))
    # Text on the canvas is painted at any zoom: hinted glyphs would change their widths with it.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular and not mono:
        font.setFeature(QFont.Tag("tnum"), 1)
    if mono:
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFeature(QFont.Tag("calt"), 0)
    return font


_WEIGHTS = (100, 200, 300, 400, 500, 600, 700, 800, 900)

_ROLES = {
    QPalette.ColorRole.Window: "panel2",
    QPalette.ColorRole.WindowText: "ink",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "panel2",
    QPalette.ColorRole.ToolTipBase: "ink",
    QPalette.ColorRole.ToolTipText: "surface",
    QPalette.ColorRole.PlaceholderText: "ink3",
    QPalette.ColorRole.Text: "ink",
    QPalette.ColorRole.Button: "panel",
    QPalette.ColorRole.ButtonText: "ink",
    QPalette.ColorRole.BrightText: "backward",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "panel2",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "line_strong",
    QPalette.ColorRole.Shadow: "shadow",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "on_selection",
    QPalette.ColorRole.Accent: "selection",
    QPalette.ColorRole.Link: "selection",
    QPalette.ColorRole.LinkVisited: "module",
}
_TEXT_ROLES = {
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.PlaceholderText,
    QPalette.ColorRole.HighlightedText,
}
