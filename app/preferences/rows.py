"""The settings, each declared once: the source of the dialog, the palette and the file."""

from typing import Literal

import msgspec
from msgspec import Struct

from gradscribe.app.preferences.kinds import (
    ChoiceKind,
    FontKind,
    Kind,
    LineKind,
    NumberKind,
    RecordKind,
    SwitchKind,
)
from gradscribe.playback.graph.coloring import MODES

Effect = Literal["now", "run", "next"]
EFFECTS: dict[Effect, str] = {
    "now": "At once",
    "run": "At once: the program runs again",
    "next": "The next time it is used",
}
"""Time from which a setting has an effect -> the words for it."""
GROUPS = ("Appearance", "Graph", "Playback", "Editor", "Programs", "Window", "Films")


class Setting(Struct, frozen=True):
    """Declaration of a setting. Without a group it has no row in the dialog."""

    key: str
    title: str
    default: bool | float | str
    kind: Kind = SwitchKind()
    group: str = ""
    sentence: str = ""
    """Says what it changes, for the dialog and the palette."""
    effect: Effect = "now"
    is_stored: bool = True
    """False for a state of a window, which neither another window nor the next start takes over."""
    travels: bool = True
    """False if no file of settings may set it: it is about this machine, or about its safety."""

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` has the type of the default and is allowed."""
        return type(value) is type(self.default) and self.kind.accepts(value)


def is_progress(value: object) -> bool:
    """Return whether ``value`` is a JSON object of objects, as progress is stored."""
    try:
        msgspec.json.decode(str(value), type=dict[str, dict[str, object]])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


_APPEARANCE = (
    Setting(
        "theme",
        "Theme",
        "system",
        ChoiceKind({"system": "As the system", "light": "Light", "dark": "Dark"}),
        "Appearance",
        "Light or dark colours.",
    ),
    Setting(
        "contrast",
        "Contrast",
        "system",
        ChoiceKind({"system": "As the system", "usual": "Usual", "high": "High"}),
        "Appearance",
        "High contrast has darker text on lighter ground, or the reverse, and thicker lines.",
    ),
    Setting(
        "motion",
        "Motion",
        "system",
        ChoiceKind({"system": "As the system", "full": "All", "reduced": "Reduced"}),
        "Appearance",
        "With reduced motion nothing glides, pulses or flies: each picture is there at once.",
    ),
    Setting(
        "text",
        "Text size",
        1.0,
        NumberKind(0.7, 2.5, "%", 10.0, 100.0),
        "Appearance",
        "Size of all text outside of the graph, which has its own zoom.",
    ),
    Setting(
        "ui_font",
        "Font",
        "",
        FontKind(is_fixed=False),
        "Appearance",
        "Font of menus, panels and cards; characters that it lacks come from another font.",
    ),
    Setting(
        "code_font",
        "Font of code",
        "",
        FontKind(is_fixed=True),
        "Appearance",
        "Font of the program, of shapes and of numbers in tables.",
    ),
)
_GRAPH = (
    Setting(
        "values",
        "Values",
        True,
        SwitchKind(),
        "Graph",
        "Cards show the values of the forward pass.",
    ),
    Setting(
        "gradients",
        "Gradients",
        True,
        SwitchKind(),
        "Graph",
        "Cards and wires show the gradients of the backward pass.",
    ),
    Setting(
        "shapes", "Shapes", True, SwitchKind(), "Graph", "Wires show the shapes of their tensors."
    ),
    Setting(
        "order",
        "Order and visits",
        False,
        SwitchKind(),
        "Graph",
        "Cards show when a pass runs them, and how often.",
    ),
    Setting(
        "coloring",
        "Colour by",
        "",
        ChoiceKind({str(mode): title for mode, title in MODES.items()}),
        "Graph",
        "What the colours of the cards mean.",
    ),
    Setting(
        "sideways",
        "From left to right",
        False,
        SwitchKind(),
        "Graph",
        "Values run from left to right instead of from top to bottom.",
    ),
)
_PLAYBACK = (
    Setting(
        "speed",
        "Speed",
        1.0,
        NumberKind(0.25, 8.0, "×", 0.25, decimals=2),
        "Playback",
        "Pace at which a run is played.",
    ),
    Setting(
        "follow",
        "Follow what plays",
        True,
        SwitchKind(),
        "Playback",
        "The graph moves so that what plays stays in view.",
    ),
    Setting(
        "pointer_ring",
        "Pointer ring",
        True,
        SwitchKind(),
        "Playback",
        "While presenting, a ring shows where the mouse is.",
    ),
)
_EDITOR = (
    Setting(
        "complete",
        "Complete while typing",
        True,
        SwitchKind(),
        "Editor",
        "Names are offered while you type; Ctrl+Space asks for them at any time.",
    ),
    Setting(
        "editor",
        "Your editor",
        "",
        LineKind("code --goto {file}:{line}"),
        "Editor",
        "Command that opens a program in your own editor, with {file} and {line}; "
        "empty for the first that is installed.",
        effect="next",
        travels=False,
    ),
)
_PROGRAMS = (
    Setting(
        "timeout",
        "Time limit",
        10.0,
        NumberKind(1.0, 86_400.0, "s", 5.0),
        "Programs",
        "A program that takes longer is stopped; what it did until then is shown.",
        effect="run",
    ),
    Setting(
        "memory",
        "Memory for values",
        256.0,
        NumberKind(16.0, 65_536.0, "MB", 64.0),
        "Programs",
        "Beyond it the oldest recorded values become summaries.",
        effect="run",
    ),
    Setting(
        "access",
        "Let my programs use files",
        False,
        SwitchKind(),
        "Programs",
        "Your own programs may write files, use the network and start others; off is safer.",
        effect="run",
        travels=False,
    ),
)
_WINDOW = (
    Setting(
        "left", "Program", True, SwitchKind(), "Window", "The column with the program is shown."
    ),
    Setting(
        "below",
        "Output and legend",
        True,
        SwitchKind(),
        "Window",
        "The pane under the program is shown.",
    ),
    Setting(
        "right",
        "Inspector",
        True,
        SwitchKind(),
        "Window",
        "The column with the inspector and the tables is shown.",
    ),
)
_FILMS = (
    Setting(
        "film_size",
        "Size of films",
        "fit",
        LineKind("fit, or 1280x720", r"fit|[1-9]\d{2,3}x[1-9]\d{2,3}"),
        "Films",
        "Width and height in pixels; fit takes the size of the graph.",
        effect="next",
    ),
    Setting(
        "film_code",
        "Program in films",
        False,
        SwitchKind(),
        "Films",
        "Films show the program next to the graph.",
        effect="next",
    ),
)
_RECORDS = (
    Setting("presenting", "Presenting", False, is_stored=False),
    Setting("pythons", "Pythons of programs", "{}", RecordKind()),
    Setting("lessons", "Progress in the lessons", "{}", RecordKind(is_progress)),
    Setting("by_hand", "Score of gradients by hand", "{}", RecordKind(is_progress)),
)
SETTINGS = (
    *_APPEARANCE, *_GRAPH, *_PLAYBACK, *_EDITOR, *_PROGRAMS, *_WINDOW, *_FILMS, *_RECORDS,
)  # fmt: skip
BY_KEY = {row.key: row for row in SETTINGS}
CHOICES = tuple(row for row in SETTINGS if row.group)
"""The settings that have a row in the dialog."""
