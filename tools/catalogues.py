"""Write the template of all messages from the source, and merge it into the catalogues.

Run by `make catalogues` in the environment, which has Babel. New messages come without a
translation; changed ones lose theirs: a guess would be taken for a translation.
"""

import ast
import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from engine_messages import Message, read_files
from engine_messages import extract as extract_engine

from gradscribe.app.document import examples
from gradscribe.app.training.setup import presets
from gradscribe.app.ui.shape_lab import starting_points

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "assets" / "locale"
TEMPLATE = LOCALE / "gradscribe.pot"
Keywords = dict[str, tuple[int | tuple[int, str], ...] | None]
KEYWORDS: Keywords = {"tr": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
WIDTH = 100


def extract_commands(
    fileobj: io.BufferedIOBase, keywords: object, comment_tags: object, options: object
) -> Iterator[Message]:
    """Yield the docstrings of functions declared as commands, which are their tooltips."""
    del keywords, comment_tags, options
    for node in ast.walk(ast.parse(fileobj.read())):
        if isinstance(node, ast.FunctionDef) and any(map(_is_command, node.decorator_list)):
            text = (ast.get_docstring(node, clean=False) or "").strip().removesuffix(".")
            if text:
                yield node.lineno, None, text, []


def extract_page(
    fileobj: io.BufferedIOBase, keywords: object, comment_tags: object, options: object
) -> Iterator[Message]:
    """Yield what stands in ``@t(...)@`` of a page."""
    del keywords, comment_tags, options
    for line, text in enumerate(fileobj.read().decode().splitlines(), 1):
        for found in re.finditer(r"@t\((.*?)\)@", text):
            yield line, None, found[1], []


def _is_command(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("command", "submenu")


def messages() -> Iterator[tuple[str, Message]]:
    """Yield (file, message) of all that can be translated."""
    for folder in ("playback", "widgets", "app"):
        yield from _of_files((ROOT / folder).rglob("*.py"), ("python",))
    yield from _of_files((ROOT / "app" / "commands").glob("*.py"), (extract_commands,))
    yield from _of_assets()
    page = ROOT / "assets" / "web_page"
    yield from _of_files(page.glob("*.js"), ("javascript",), {"t": None})
    yield from _of_files(page.glob("*.html"), (extract_page,))
    for path, has_titles in read_files(ROOT / "engine"):
        yield from _of_files((path,), (extract_engine,), has_titles=has_titles)


def _of_assets() -> Iterator[tuple[str, Message]]:
    """Yield titles and sentences of examples, set-ups and starting points of the shape lab."""
    for example in examples.load():
        for one in filter(None, (example, example.edge, example.broken)):
            yield from _shipped("examples", one.title, one.about)
    for preset in presets.load():
        yield from _shipped("setups", preset.title, preset.about)
    for title, _ in starting_points():
        yield from _shipped("lab", title)


def _shipped(folder: str, *texts: str) -> Iterator[tuple[str, Message]]:
    yield from ((f"assets/{folder}", (0, text, [], None)) for text in texts if text)


def _of_files(
    paths: Iterable[Path],
    methods: Iterable[object],
    keywords: Keywords = KEYWORDS,
    **options: object,
) -> Iterator[tuple[str, Message]]:
    for path in sorted(paths):
        for method in methods:
            with path.open("rb") as file:
                options = {"encoding": "utf-8", **options}
                for found in extract(method, file, keywords, options=options):
                    yield path.relative_to(ROOT).as_posix(), found


def template() -> Catalog:
    """Return the catalogue of all messages, without translations."""
    found = Catalog(project="Gradscribe", charset="utf-8")
    for path, (_, message, comments, context) in messages():
        found.add(message, locations=[(path, 0)], auto_comments=comments, context=context)
    for message in found:
        # One file says where a message is from, lines would change with every edit.
        message.locations = sorted(set(message.locations))
        if message.id and "{" in str(message.id):
            message.flags.add("python-brace-format")
    return found


def written(catalogue: Catalog) -> str:
    """Return a catalogue as text, without what changes with the day."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, WIDTH, include_lineno=False, sort_by_file=False, omit_header=True)
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    if catalogue.locale is not None:
        header += (
            f'"Language: {catalogue.locale}\\n"\n"Plural-Forms: {catalogue.plural_forms}\\n"\n'
        )
    return f"{header}\n{buffer.getvalue().decode()}"


def merged(path: Path, new: Catalog) -> Catalog:
    """Return the catalogue in the file with the messages of the template."""
    with path.open("rb") as file:
        old = read_po(file, locale=path.parents[1].name)
    old.update(new, no_fuzzy_matching=True)
    old.obsolete.clear()
    return old


def main() -> int:
    """Write the template and the catalogues; return 1 if a message has no translation, else 0."""
    new = template()
    TEMPLATE.write_text(written(new), encoding="utf-8")
    missing = 0
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/gradscribe.po")):
        catalogue = merged(path, new)
        path.write_text(written(catalogue), encoding="utf-8")
        left = sum(1 for one in catalogue if one.id and not _is_whole(one.string))
        sys.stdout.write(f"{path.parents[1].name}: {len(catalogue)} messages, {left} missing\n")
        missing += left
    return min(missing, 1)


def _is_whole(text: object) -> bool:
    return all(text) if isinstance(text, tuple | list) else bool(text)


if __name__ == "__main__":
    sys.exit(main())
