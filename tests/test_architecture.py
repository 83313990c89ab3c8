"""The rules of the house, kept by tests: who imports whom, how long, how documented, how pinned."""

import ast
import functools
import itertools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "playback", "widgets", "app")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TOOLS = sorted((ROOT / "tools").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PROGRAMS = sorted((ROOT / "tests").rglob("*.txt"))
"""Programs that tests run, kept as text."""

MAX_FILE, MAX_FUNCTION = 400, 50
TESTS_PER_SOURCE = 0.6

COVERED_BY = {
    "engine/zoo/": "tests/engine/train/runs/test_export.py",
    "engine/train/": "tests/engine/train/runs/test_run.py",
    "widgets/paint/": "tests/widgets/graph/test_view.py",
    "engine/confine/": "tests/hostile/test_confinement.py",
    "engine/policy/": "tests/engine/sandbox/policy/test_program.py",
    "engine/record/": "tests/engine/record/forward/test_function_mode.py",
    "engine/doctor/": "tests/engine/doctor/test_findings.py",
    "playback/layout": "tests/playback/layout/test_place.py",
    "playback/lab/": "tests/playback/lab/test_explain.py",
    "widgets/lab/": "tests/widgets/lab/test_page.py",
    "app/commands/lab.py": "tests/app/ui/test_shape_lab.py",
    "playback/graph/picture.py": "tests/playback/graph/test_build.py",
}
"""Files no test imports, because they are tested through another room; by how their name begins."""

NOT_OURS = {"build", "dist", "__pycache__", "node_modules", "shared"}
TEXT = {".py", ".toml", ".md", ".txt", ".svg", ".json", ".cfg", ".yml", ".yaml", ".sh", ""}
# Written in two pieces, so that this file does not break its own rule.
FORBIDDEN = [
    first + second
    for first, second in (
        ("/ro", "ot/"),
        ("/ho", "me/"),
        ("/tm", "p/"),
        ("/wo", "rk/"),
        ("/op", "t/"),
        ("C:\\Us", "ers"),
        ("pypi", ".org"),
        ("python", "hosted"),
        ("npm", "js"),
        ("download.py", "torch"),
        ("deb.deb", "ian"),
        ("extra-index", "-url"),
        ("find-", "links"),
    )
]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def our_files() -> Iterator[Path]:
    """Every text file of the project, in a git checkout or in a plain copy of it."""
    folders = [ROOT]
    while folders:
        for entry in sorted(folders.pop().iterdir()):
            hidden = entry.name.startswith(".") and entry.name != ".ci"
            if entry.is_dir():
                environment = (entry / "pyvenv.cfg").exists()
                if not (hidden or environment or entry.name in NOT_OURS):
                    folders.append(entry)
            elif entry.suffix in TEXT and not entry.name.startswith((".coverage", ".git")):
                yield entry


def public_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Public functions and classes of a module, and the public methods of those classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, kinds) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def modules_after(statement: str) -> set[str]:
    """Names of the top-level modules a fresh interpreter holds after ``statement``."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("package", ["app", "widgets", "playback"])
def test_nothing_in_the_window_process_brings_torch_along(package):
    modules = [
        name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in SOURCES
        if path.is_relative_to(ROOT / package) and path.name != "__main__.py"
    ]
    assert "torch" not in modules_after(f"import {', '.join(modules)}")


def test_the_command_line_is_parsed_without_torch():
    assert "torch" not in modules_after("import gradscribe.app.cli.main")


def test_the_engine_never_heard_of_qt():
    modules = [
        name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in SOURCES
        if path.is_relative_to(ROOT / "engine") and path.name != "__main__.py"
    ]
    loaded = modules_after(f"import {', '.join(modules)}, gradscribe.engine.__main__")
    assert not loaded & {"PySide6", "shiboken6", "app", "widgets", "playback"}


def test_the_playback_needs_neither_qt_nor_torch():
    modules = [f"playback.{path.stem}" for path in (ROOT / "playback").glob("[a-z]*.py")]
    assert not modules_after(f"import {', '.join(modules)}") & {"PySide6", "torch"}


def test_the_wire_and_the_tape_are_plain_data():
    loaded = modules_after(
        "import gradscribe.engine.protocol.frames, gradscribe.engine.protocol.tape"
    )
    assert not loaded & {"PySide6", "torch", "app", "widgets", "playback"}


@pytest.mark.parametrize("path", SOURCES + TOOLS + TESTS, ids=name_of)
def test_no_file_is_longer_than_the_budget(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE


@pytest.mark.parametrize("path", SOURCES + TOOLS + TESTS, ids=name_of)
def test_no_function_is_longer_than_the_budget(path):
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, functions) and node.end_lineno - node.lineno + 1 > MAX_FUNCTION
    ]
    assert not long


@pytest.mark.parametrize("path", SOURCES + TOOLS, ids=name_of)
def test_every_public_name_is_documented(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [name for name, node in public_definitions(tree) if not documented(name, node)]
    if tree.body and not ast.get_docstring(tree):
        bare.insert(0, "the module")
    assert not bare


def documented(name: str, node: ast.AST) -> bool:
    """Qt's own methods keep their camelCase and Qt's documentation; protocols repeat names."""
    overrides = bool(re.search(r"\.[a-z]+[A-Z]\w*$", name)) or has_decorator(node, "override")
    promised = ast.unparse(node.body[-1]) == "..."
    excused = overrides or promised or has_decorator(node, "overload", "setter")
    return excused or bool(ast.get_docstring(node))


def has_decorator(node: ast.AST, *names: str) -> bool:
    written = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(words.rpartition(".")[2] in names for words in written)


@pytest.mark.parametrize("path", SOURCES + TOOLS, ids=name_of)
def test_every_function_is_annotated(path):
    bare = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = [a.arg for a in given if a.annotation is None and a.arg not in ("self", "cls")]
            bare += [f"{node.name}({name})" for name in names]
            if node.returns is None:
                bare.append(f"{node.name} returns?")
    assert not bare


@functools.cache
def imported_by_tests() -> set[str]:
    """Dotted names that test modules import: a module and a name in it alike."""
    names = set()
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


@pytest.mark.parametrize("path", [p for p in SOURCES if not p.name.startswith("__")], ids=name_of)
def test_every_source_file_has_its_tests(path):
    name = name_of(path)
    own = ROOT / "tests" / path.relative_to(ROOT).parent / f"test_{path.name}"
    through = [ROOT / test for start, test in COVERED_BY.items() if name.startswith(start)]
    known = name.removesuffix(".py").replace("/", ".") in imported_by_tests()
    assert known or any(test.exists() for test in [own, *through]), f"no test imports {name}"


def test_the_map_of_shared_tests_names_only_files_that_are_there():
    for start, test in COVERED_BY.items():
        assert (ROOT / test).exists(), test
        assert any(name_of(path).startswith(start) for path in SOURCES), start


def rooms() -> dict[str, bool]:
    """Every folder and file that the page's tree names; true for a folder that stands for all."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tree = page.partition("## Rooms")[2].split("```")[1]
    named, above = {}, []
    for line in filter(str.strip, tree.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        entry = line.split()[0]
        above[depth:] = [entry]
        named["".join(above)] = "one file per" in line or "one file each" in line
    return named


def test_the_page_on_architecture_names_only_rooms_that_are_there():
    assert [name for name in rooms() if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_on_architecture_leaves_no_room_out(package):
    named = rooms()
    unnamed = [
        name_of(path)
        for path in SOURCES
        if path.is_relative_to(ROOT / package) and path.name != "__init__.py"
        if name_of(path) not in named and not named.get(f"{name_of(path.parent)}/")
    ]
    assert not unnamed


def test_there_are_enough_tests_for_the_code():
    def lines(paths: list[Path]) -> int:
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)

    assert lines(TESTS + PROGRAMS) >= TESTS_PER_SOURCE * lines(SOURCES)


@pytest.mark.parametrize("name", ["utils.py", "helpers.py", "common.py", "misc.py"])
def test_no_room_is_a_lumber_room(name):
    assert [path for path in SOURCES if path.name == name] == []


@pytest.mark.parametrize("path", SOURCES + TOOLS, ids=name_of)
def test_no_pattern_is_possessive(path):
    """Early releases of Python 3.11, Debian 12's among them, match such patterns wrongly."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    found = [t for t in texts if isinstance(t, str) and re.search(r"[)\]][*+?]\+|\(\?>", t)]
    assert not found


def test_no_file_names_a_machine_or_a_registry():
    found = [
        f"{name_of(path)}: {word}"
        for path in our_files()
        for text in [path.read_text(encoding="utf-8")]
        for word in FORBIDDEN
        if word in text
    ]
    assert not found


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for line in itertools.chain.from_iterable(groups)]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version.strip() for name, version in pairs}


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_has_a_pin_inside_its_range(requirement):
    pinned = pins().get(canonicalize_name(requirement.name))
    assert pinned, f"{requirement.name} is not in constraints.txt"
    assert requirement.specifier.contains(pinned)


def test_no_pyside_that_drops_references_is_let_in():
    by_marker = [r for r in requirements() if r.name == "PySide6-Essentials"]
    for version, python, allowed in (
        ("6.12.0", "3.11", False),
        ("6.11.3", "3.11", True),
        ("6.11.3", "3.12", True),
    ):
        (rule,) = [r for r in by_marker if r.marker.evaluate({"python_version": python})]
        assert rule.specifier.contains(version) is allowed
    assert pins()["pyside6-essentials"] == pins()["shiboken6"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="nothing counts them any more")
def test_qt_keeps_the_references_to_none_and_true(qtbot):
    from PySide6.QtCore import QObject, Signal

    class Bell(QObject):
        rung = Signal(bool)

    bell, heard = Bell(), []
    bell.rung.connect(lambda loud: heard.append(loud))
    before = sys.getrefcount(None), sys.getrefcount(True)
    for _ in range(20_000):
        bell.setObjectName("bell")
    for _ in range(5_000):
        bell.rung.emit(True)
    heard_all = len(heard) == 5_000
    heard.clear()
    after = sys.getrefcount(None), sys.getrefcount(True)
    assert heard_all
    assert max(abs(b - a) for a, b in zip(before, after, strict=True)) < 500
