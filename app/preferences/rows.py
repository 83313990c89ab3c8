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
from gradscribe.playback.translation import languages, pseudo, tr

Effect = Literal["now", "run", "next", "start"]
EFFECTS: dict[Effect, str] = {
    "now": tr("At once"),
    "run": tr("At once: the program runs again"),
    "next": tr("The next time it is used"),
    "start": tr("At the next start"),
}
"""Time from which a setting has an effect -> the words for it."""
GROUPS = {
    "appearance": tr("Appearance"),
    "graph": tr("Graph"),
    "playback": tr("Playback"),
    "presenting": tr("Presenting"),
    "editor": tr("Editor"),
    "programs": tr("Programs"),
    "window": tr("Window"),
    "films": tr("Films"),
}
"""Groups of the window of the settings, in its order, with their titles."""


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


_LANGUAGES = {code: name for code, name in languages.available().items() if code != pseudo.CODE}
_APPEARANCE = (
    # Read at the start by app/runtime/language.py, before this module is imported.
    Setting(
        "language",
        tr("Language"),
        "",
        ChoiceKind({"": tr("As the system"), **_LANGUAGES}),
        "appearance",
        tr("Language of the window; runs and the command line stay English."),
        effect="start",
    ),
    Setting(
        "theme",
        tr("Theme"),
        "system",
        ChoiceKind({"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")}),
        "appearance",
        tr("Light or dark colours."),
    ),
    Setting(
        "contrast",
        tr("Contrast"),
        "system",
        ChoiceKind({"system": tr("As the system"), "usual": tr("Usual"), "high": tr("High")}),
        "appearance",
        tr("High contrast has darker text on lighter ground, or the reverse, and thicker lines."),
    ),
    Setting(
        "motion",
        tr("Motion"),
        "system",
        ChoiceKind({"system": tr("As the system"), "full": tr("All"), "reduced": tr("Reduced")}),
        "appearance",
        tr("With reduced motion nothing glides, pulses or flies: each picture is there at once."),
    ),
    Setting(
        "text",
        tr("Text size"),
        1.0,
        NumberKind(0.7, 2.5, "%", 10.0, 100.0),
        "appearance",
        tr("Size of all text outside of the graph, which has its own zoom."),
    ),
    Setting(
        "ui_font",
        tr("Font"),
        "",
        FontKind(is_fixed=False),
        "appearance",
        tr("Font of menus, panels and cards; characters that it lacks come from another font."),
    ),
    Setting(
        "code_font",
        tr("Font of code"),
        "",
        FontKind(is_fixed=True),
        "appearance",
        tr("Font of the program, of shapes and of numbers in tables."),
    ),
)
_GRAPH = (
    Setting(
        "values",
        tr("Values"),
        True,
        SwitchKind(),
        "graph",
        tr("Cards show the values of the forward pass."),
    ),
    Setting(
        "gradients",
        tr("Gradients"),
        True,
        SwitchKind(),
        "graph",
        tr("Cards and wires show the gradients of the backward pass."),
    ),
    Setting(
        "shapes",
        tr("Shapes"),
        True,
        SwitchKind(),
        "graph",
        tr("Wires show the shapes of their tensors."),
    ),
    Setting(
        "order",
        tr("Order and visits"),
        False,
        SwitchKind(),
        "graph",
        tr("Cards show when a pass runs them, and how often."),
    ),
    Setting(
        "coloring",
        tr("Colour by"),
        "",
        ChoiceKind({str(mode): title for mode, title in MODES.items()}),
        "graph",
        tr("What the colours of the cards mean."),
    ),
    Setting(
        "sideways",
        tr("From left to right"),
        False,
        SwitchKind(),
        "graph",
        tr("Values run from left to right instead of from top to bottom."),
    ),
)
_PLAYBACK = (
    Setting(
        "speed",
        tr("Speed"),
        1.0,
        NumberKind(0.25, 8.0, "×", 0.25, decimals=2),
        "playback",
        tr("Pace at which a run is played."),
    ),
    Setting(
        "follow",
        tr("Follow what plays"),
        True,
        SwitchKind(),
        "playback",
        tr("The graph moves so that what plays stays in view."),
    ),
)
_PRESENTING = (
    Setting(
        "presenting_text",
        tr("Text while presenting"),
        1.35,
        NumberKind(1.0, 3.0, "%", 10.0, 100.0),
        "presenting",
        tr("Size of all text outside of the graph while presenting, of its usual size."),
    ),
    Setting(
        "pointer_ring",
        tr("Pointer ring"),
        True,
        SwitchKind(),
        "presenting",
        tr("While presenting, a ring shows where the mouse is."),
    ),
    Setting(
        "stays_menu",
        tr("Menu bar"),
        False,
        SwitchKind(),
        "presenting",
        tr("The menu bar stays while presenting; Ctrl+K finds every command all the same."),
    ),
    Setting(
        "stays_top",
        tr("Title and playback"),
        True,
        SwitchKind(),
        "presenting",
        tr("The bar with title and buttons of playback stays while presenting."),
    ),
    Setting(
        "stays_layers",
        tr("Layers and device"),
        False,
        SwitchKind(),
        "presenting",
        tr("The buttons of values, gradients, shapes and device stay, with their bar."),
    ),
    Setting(
        "stays_tools",
        tr("Tools of the graph"),
        False,
        SwitchKind(),
        "presenting",
        tr("Search, zoom and path over the graph stay while presenting."),
    ),
    Setting(
        "stays_program",
        tr("Program"),
        True,
        SwitchKind(),
        "presenting",
        tr("The program stays while presenting."),
    ),
    Setting(
        "stays_below",
        tr("Panels below the program"),
        False,
        SwitchKind(),
        "presenting",
        tr("Legend, output and slides stay while presenting, together with the program."),
    ),
    Setting(
        "stays_inspector",
        tr("Inspector and tables"),
        False,
        SwitchKind(),
        "presenting",
        tr("Inspector, values and events stay while presenting."),
    ),
    Setting(
        "stays_timeline",
        tr("Time line"),
        True,
        SwitchKind(),
        "presenting",
        tr("The time line stays while presenting."),
    ),
    Setting(
        "stays_status",
        tr("Status line"),
        False,
        SwitchKind(),
        "presenting",
        tr("The line with the event that plays stays while presenting."),
    ),
)
_EDITOR = (
    Setting(
        "complete",
        tr("Complete while typing"),
        True,
        SwitchKind(),
        "editor",
        tr("Names are offered while you type; Ctrl+Space asks for them at any time."),
    ),
    Setting(
        "editor",
        tr("Your editor"),
        "",
        LineKind(tr("code --goto {file}:{line}")),
        "editor",
        tr(
            "Command that opens a program in your own editor, with {file} and {line}; "
            "empty for the first that is installed."
        ),
        effect="next",
        travels=False,
    ),
)
_PROGRAMS = (
    Setting(
        "timeout",
        tr("Time limit"),
        10.0,
        NumberKind(1.0, 86_400.0, "s", 5.0),
        "programs",
        tr("A program that takes longer is stopped; what it did until then is shown."),
        effect="run",
    ),
    Setting(
        "memory",
        tr("Memory for values"),
        256.0,
        NumberKind(16.0, 65_536.0, "MB", 64.0),
        "programs",
        tr("Beyond it the oldest recorded values become summaries."),
        effect="run",
    ),
    Setting(
        "access",
        tr("Let my programs use files"),
        False,
        SwitchKind(),
        "programs",
        tr("Your own programs may write files, use the network and start others; off is safer."),
        effect="run",
        travels=False,
    ),
)
_WINDOW = (
    Setting(
        "start",
        tr("Start with"),
        "page",
        ChoiceKind(
            {
                "page": tr("The start page"),
                "last": tr("The file opened last"),
                "empty": tr("An empty program"),
            }
        ),
        "window",
        tr("What a window shows that is started without a file; unsaved work goes before it."),
        effect="start",
    ),
    Setting(
        "left",
        tr("Program"),
        True,
        SwitchKind(),
        "window",
        tr("The column with the program is shown."),
    ),
    Setting(
        "below",
        tr("Output and legend"),
        True,
        SwitchKind(),
        "window",
        tr("The pane under the program is shown."),
    ),
    Setting(
        "right",
        tr("Inspector"),
        True,
        SwitchKind(),
        "window",
        tr("The column with the inspector and the tables is shown."),
    ),
)
_FILMS = (
    Setting(
        "film_size",
        tr("Size of films"),
        "fit",
        LineKind(tr("fit, or 1280x720"), r"fit|[1-9]\d{2,3}x[1-9]\d{2,3}"),
        "films",
        tr("Width and height in pixels; fit takes the size of the graph."),
        effect="next",
    ),
    Setting(
        "film_code",
        tr("Program in films"),
        False,
        SwitchKind(),
        "films",
        tr("Films show the program next to the graph."),
        effect="next",
    ),
)
_RECORDS = (
    Setting("tour", tr("Tour was offered"), False, RecordKind()),
    Setting("presenting", tr("Presenting"), False, is_stored=False),
    Setting("columns", tr("Widths of columns"), "{}", RecordKind()),
    Setting("pythons", tr("Pythons of programs"), "{}", RecordKind()),
    Setting("lessons", tr("Progress in the lessons"), "{}", RecordKind(is_progress)),
    Setting("by_hand", tr("Score of gradients by hand"), "{}", RecordKind(is_progress)),
)
SETTINGS = (
    *_APPEARANCE, *_GRAPH, *_PLAYBACK, *_PRESENTING, *_EDITOR, *_PROGRAMS, *_WINDOW, *_FILMS,
    *_RECORDS,
)  # fmt: skip
BY_KEY = {row.key: row for row in SETTINGS}
CHOICES = tuple(row for row in SETTINGS if row.group)
"""The settings that have a row in the dialog."""
