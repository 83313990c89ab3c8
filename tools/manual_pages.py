"""Write the manual's reference pages from the program itself, for `make docs`."""

import ast
import inspect
import itertools
import textwrap
from argparse import Action, ArgumentParser
from importlib import import_module
from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.app import commands
from gradscribe.app.cli.main import COMMANDS, WINDOW
from gradscribe.app.manual.gestures import PLACES
from gradscribe.app.preferences.kinds import ChoiceKind, NumberKind
from gradscribe.app.preferences.rows import CHOICES, GROUPS, Setting
from gradscribe.engine import hints
from gradscribe.engine.protocol import setup, tape_file, watch_file
from gradscribe.engine.protocol.lecture import slides
from gradscribe.engine.protocol.tape import Place

SETTINGS_TABLES = "## All settings\n"
MANUAL = Path(__file__).resolve().parents[1] / "docs" / "manual"


def commands_page() -> str:
    """Return the table of all commands with their keys, menu by menu."""
    parts = [
        "# Commands and keys\n\nAll commands by menu. Ctrl+K finds each by a part of its name.\n"
    ]
    for menu in commands.MENUS:
        rows = [one for one in commands.load() if one.place[0] == menu]
        # Commands of a group are registered in the order in which their modules are imported.
        rows.sort(key=lambda one: (one.place[1], one.title))
        parts.append(f"\n## {menu}\n\n| Command | Keys | Does |\n|---|---|---|\n")
        for one in rows:
            keys = ", ".join(f"`{key}`" for key in (*one.bare, *one.keys))
            parts.append(f"| {one.title} | {keys} | {_cell(one.tip)} |\n")
    return "".join(parts)


KEYBOARD_WORDS = (
    "Everything that the mouse does has a key. Tab leads from control to control, F6 from panel to"
    " panel. Ctrl+K finds each command by a part of its name, also those without keys of their own."
    " *Keyboard shortcuts* (F1) lists the commands that have keys."
)


def keyboard_page() -> str:
    """Return what the mouse does in each part of the window, with the keys for it."""
    by_id = {one.id: one for one in commands.load()}
    parts = [f"# Keyboard\n\n{KEYBOARD_WORDS}\n"]
    for place in PLACES:
        parts.append(
            f"\n## {place.title}\n\n| With the mouse | Does | With the keyboard |\n|---|---|---|\n"
        )
        for gesture in place.gestures:
            ways = [", ".join(f"`{key}`" for key in gesture.keys)] if gesture.keys else []
            if gesture.command:
                one = by_id[gesture.command]
                keys = ", ".join(f"`{key}`" for key in (*one.bare, *one.keys)) or "`Ctrl+K`"
                ways.append(f"{keys} (*{one.title}*)")
            parts.append(f"| {gesture.mouse} | {gesture.does} | {'; '.join(ways)} |\n")
    return "".join(parts)


def settings_page() -> str:
    """Return the page on settings with its last part, the tables, written anew."""
    text = (MANUAL / "settings.md").read_text(encoding="utf-8")
    parts = [text.partition(SETTINGS_TABLES)[0], SETTINGS_TABLES]
    for group, title in GROUPS.items():
        parts.append(f"\n### {title}\n\n| Setting | At first | Does |\n|---|---|---|\n")
        rows = [row for row in CHOICES if row.group == group]
        parts += [f"| {row.title} | {_first(row)} | {_cell(row.sentence)} |\n" for row in rows]
    return "".join(parts)


def _first(row: Setting) -> str:
    """Return the default of a setting as the window shows it."""
    kind, value = row.kind, row.default
    if isinstance(kind, ChoiceKind):
        return str(kind.titles[str(value)])
    if isinstance(kind, NumberKind):
        return f"{float(value) * kind.factor:g} {kind.unit}".strip()
    if isinstance(value, bool):
        return "On" if value else "Off"
    return str(value)


def messages_page() -> str:
    """Return the table of errors that have a hint, each with an example."""
    words = (
        "Under an error of Python or PyTorch stands what usually helps. These are the errors that"
        " have a hint; where it depends on your program, it names your variables and shapes."
    )
    parts = [f"# What the error hints mean\n\n{words}\n\n| Error | Hint |\n|---|---|\n"]
    for row in hints.ROWS:
        error = f"{row.kind.__name__}: {row.example}".removesuffix(": ")
        parts.append(f"| `{_cell(error)}` | {_cell(_hint_of(row))} |\n")
    return "".join(parts)


def _hint_of(row: hints.HintRow) -> str:
    if isinstance(row.answer, str) and "{" not in row.answer:
        return row.answer
    found = hints.hint(row.kind(row.example), "", Place(1), None)
    first = found.splitlines()[0] if found else ""
    return first or "names the tensors, layers or lines of your program that it is about"


def options_page() -> str:
    """Return every option of every command."""
    parts = ["# Options of the command line\n\nAlso printed by `--help` after each command.\n"]
    for name, (module, about) in {"": (WINDOW, "open the window"), **COMMANDS}.items():
        parser = ArgumentParser(add_help=False)
        import_module(f"gradscribe.app.cli.{module}").add_arguments(parser)
        title = f"gradscribe {name}".strip()
        parts.append(f"\n## {title}\n\n{about[0].upper()}{about[1:]}.\n\n")
        parts.append("| Option | Meaning |\n|---|---|\n")
        parts += [
            _option_row(action) for action in parser._actions if action.help != "==SUPPRESS=="
        ]
    return "".join(parts)


def _option_row(action: Action) -> str:
    value = action.metavar
    if value is None and action.nargs != 0:
        value = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    words = ", ".join(action.option_strings) or str(value)
    shown = f"{words} {value}" if action.option_strings and value else words
    about = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    return f"| `{_cell(shown)}` | {_cell(about)} |\n"


def formats_page() -> str:
    """Return the page of file formats: its words as they are, then the fields of the structs."""
    words = (MANUAL / "file-formats.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return "\n".join((words.rstrip() + "\n", *(_struct(title, kind) for title, kind in STRUCTS)))


STRUCTS: tuple[tuple[str, type[Struct]], ...] = (
    ("The program of a recorded run", tape_file.RunProgram),
    ("The view of a recorded run", tape_file.RunView),
    ("A slide of a lecture", slides.Slide),
    ("The part of the graph in view at a slide", slides.Sight),
    ("A set-up", setup.Setup),
    ("The header of a watched loop", watch_file.WatchHeader),
    ("A sample of a watched loop", watch_file.WatchSample),
)


def _struct(title: str, kind: type[Struct]) -> str:
    rows = [f"\n## {title}\n\n| Field | Type | Unless given | Meaning |\n|---|---|---|---|\n"]
    about = _attribute_words(kind)
    for item in msgspec.structs.fields(kind):
        required = item.default is msgspec.NODEFAULT and item.default_factory is msgspec.NODEFAULT
        default = "" if required else f"`{_cell(_default(item))}`"
        types = _cell(_annotations(kind).get(item.name, ""))
        words = _cell(about.get(item.name, ""))
        rows.append(f"| `{item.encode_name}` | {types} | {default} | {words} |\n")
    return "".join(rows)


def _default(item: msgspec.structs.FieldInfo) -> str:
    made = item.default if item.default is not msgspec.NODEFAULT else item.default_factory()
    return msgspec.json.encode(made).decode()


def _body(kind: type) -> list[ast.stmt]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    found = tree.body[0]
    assert isinstance(found, ast.ClassDef)
    return found.body


def _annotations(kind: type) -> dict[str, str]:
    return {
        line.target.id: ast.unparse(line.annotation)
        for line in _body(kind)
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }


def _attribute_words(kind: type) -> dict[str, str]:
    body = _body(kind)
    return {
        line.target.id: " ".join(after.value.value.split())
        for line, after in itertools.pairwise(body)
        if isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES = {
    "settings": settings_page,
    "commands": commands_page,
    "keyboard": keyboard_page,
    "messages": messages_page,
    "options": options_page,
    "file-formats": formats_page,
}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (MANUAL / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
