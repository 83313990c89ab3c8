"""The rules of the house, kept by tests: who imports whom, how long, how documented, how pinned."""

import ast
import functools
import gc
import itertools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "playback", "widgets", "app")
WINDOW = {f"gradscribe.{package}" for package in ("app", "widgets", "playback")}
SOURCES = sorted(path for package in (*PACKAGES, "api") for path in (ROOT / package).rglob("*.py"))
TOOLS = sorted((ROOT / "tools").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PROGRAMS = sorted((ROOT / "tests").rglob("*.txt"))
"""Programs that tests run, kept as text."""

MAX_FUNCTION, MAX_FOLDER = 50, 20

"""Folders of one file an entry, which may hold as many as there are."""
TESTS_PER_SOURCE = 0.6

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


def modules_after(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after ``statement``.

    Top-level ones, and the folders of the package as ``gradscribe.app``.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    names = [name.split(".") for name in done.stdout.split()]
    return {name[0] for name in names} | {".".join(name[:2]) for name in names}


def module_of(path: Path) -> str:
    """The dotted name by which a source file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("gradscribe", *(part for part in parts if part != "__init__")))


@pytest.mark.parametrize("package", ["app", "widgets", "playback"])
def test_nothing_in_the_window_process_brings_torch_or_networkx_along(package):
    modules = [
        module_of(path)
        for path in SOURCES
        if path.is_relative_to(ROOT / package) and path.name != "__main__.py"
    ]
    loaded = modules_after(f"import {', '.join(modules)}")
    assert not loaded & {"torch", "networkx"}
    assert package != "playback" or "PySide6" not in loaded


LATE = {"torch", "pyqtgraph", "networkx", "matplotlib", "pandas"}
"""Libraries that are imported once they are needed."""


@pytest.mark.parametrize("module", ["app.cli.main", "engine.__main__"])
def test_no_process_waits_for_a_library_that_it_may_never_need(module):
    assert not LATE & modules_after(f"import gradscribe.{module}")


def test_a_window_is_shown_before_any_of_these_libraries_is_imported():
    shows = """
import tempfile
from pathlib import Path
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.window.startup import make_app
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeLink
home = Path(tempfile.mkdtemp())
app = make_app(["test"])
window = Window(FakeLink(), Settings(home / "s.ini"), Drafts(home))
window.open_first()
window.show()
app.processEvents()
assert window.isVisible()
"""
    assert not LATE & modules_after(shows)


def test_an_engine_that_has_run_a_first_program_has_imported_no_library_for_figures():
    runs = """
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run
assert run.execute(Run(0, "x = param(1.0)\\n(x * x).backward()\\nprint(x)")).status == "ok"
"""
    assert not {"pyqtgraph", "networkx", "matplotlib.artist"} & modules_after(runs)


def test_the_engine_never_heard_of_qt():
    modules = [
        module_of(path)
        for path in SOURCES
        if path.is_relative_to(ROOT / "engine") and path.name != "__main__.py"
    ]
    loaded = modules_after(f"import {', '.join(modules)}, gradscribe.engine.__main__")
    assert not loaded & {"PySide6", "shiboken6", *WINDOW}


def test_the_wire_and_the_tape_are_plain_data():
    loaded = modules_after(
        "import gradscribe.engine.protocol.frames, gradscribe.engine.protocol.tape"
    )
    assert not loaded & {"PySide6", "torch", *WINDOW}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    # The collector would go through the million nodes of all trees again and again.
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


_ASKED_FOR = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr, ast.Call, ast.Attribute),
    *(ast.Import, ast.ImportFrom),
)


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The nodes of a file of the kinds that these tests look at, found by one walk for all."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, _ASKED_FOR)]


@pytest.fixture(autouse=True, scope="module")
def trees() -> Iterator[None]:
    """Let the trees go when the last test of this file has ended."""
    yield
    nodes_of.cache_clear()
    tree_of.cache_clear()


def test_no_function_is_longer_than_the_budget():
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert not [
        f"{name_of(path)}: {node.name}, {node.end_lineno - node.lineno + 1} lines"
        for path in SOURCES + TOOLS + TESTS
        for node in nodes_of(path)
        if isinstance(node, functions) and node.end_lineno - node.lineno + 1 > MAX_FUNCTION
    ]


def test_no_folder_is_too_full_to_find_a_module_in():
    counts = Counter(name_of(path.parent) for path in SOURCES)
    assert {f: n for f, n in counts.items() if n > MAX_FOLDER + 1} == {}


def test_a_public_class_has_one_home():
    homes: dict[str, list[str]] = {}
    for path in SOURCES + TOOLS:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name_of(path))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_a_summary_is_an_imperative_or_a_noun_phrase():
    """Of modules, classes, functions and attributes, also in tests."""
    clause = re.compile(r"(What|Whether|How|Where|Which|Who|Whose|Whom|If|When)\b")
    assert not [
        f"{name_of(path)}: {text}"
        for path in SOURCES + TOOLS + TESTS
        for node in nodes_of(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(text := node.value.value, str) and clause.match(text)
    ]


def test_no_class_is_spread_over_files_by_inheritance():
    """A base with a single subclass and without a life of its own is a slice of that subclass."""
    classes = [
        (name_of(path), node)
        for path in SOURCES
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
    ]
    bases = Counter(ast.unparse(base).split("[")[0] for _, node in classes for base in node.bases)
    names = [
        name.id
        for path in SOURCES + TESTS
        for call in nodes_of(path)
        if isinstance(call, ast.Call | ast.Attribute)
        for name in [call.func if isinstance(call, ast.Call) else call.value]
        if isinstance(name, ast.Name)
    ]
    used = Counter(names)
    assert not [
        f"{where}: {node.name}"
        for where, node in classes
        if bases[node.name] == 1 and not used[node.name] and is_ours(node)
    ]


def is_ours(node: ast.ClassDef) -> bool:
    """Tell whether a class is behaviour: neither plain data nor what type checkers want named."""
    plain = {"Protocol", "Struct", "TypedDict", "NamedTuple", "Generic", "Exception", "Enum"}
    written = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
    return not written & plain and any(isinstance(part, ast.FunctionDef) for part in node.body)


def test_nothing_is_imported_by_the_name_of_a_folder():
    bare = re.compile(rf"({'|'.join(PACKAGES)}|assets|tools)(\.|$)")
    assert not [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES + TESTS
        for node in nodes_of(path)
        for name in imported(node)
        if bare.match(name)
    ]


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def folders() -> set[str]:
    """Every folder that the page's tree names."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named, above = set(), []
    for line in filter(str.strip, page.partition("## Folders")[2].split("```")[1].splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        for entry in re.match(r"\s*((?:\S+/ ?)+)", line)[1].split():
            above[depth:] = [entry]
            named.add("".join(above).rstrip("/"))
    return named


def test_the_page_on_architecture_names_the_folders_that_are_there():
    there = {name_of(path.parent) for path in SOURCES}
    assert {folder for folder in folders() if not (ROOT / folder).is_dir()} == set()
    assert there - folders() == set()


def test_there_are_enough_tests_for_the_code():
    def lines(paths: list[Path]) -> int:
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)

    assert lines(TESTS + PROGRAMS) >= TESTS_PER_SOURCE * lines(SOURCES)


@pytest.mark.parametrize("name", ["utils.py", "helpers.py", "common.py", "misc.py"])
def test_no_module_is_a_lumber_room(name):
    assert [path for path in SOURCES if path.name == name] == []


def test_no_pattern_is_possessive():
    """Early releases of Python 3.11, Debian 12's among them, match such patterns wrongly."""
    assert not [
        f"{name_of(path)}: {node.value}"
        for path in SOURCES + TOOLS
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"[)\]][*+?]\+|\(\?>", node.value)
    ]


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
    every = [Requirement(line) for line in itertools.chain.from_iterable(groups)]
    return [requirement for requirement in every if requirement.name != project["name"]]


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
