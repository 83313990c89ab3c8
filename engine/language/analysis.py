"""Answers about names in a program, found by jedi without running anything."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

import jedi
from jedi.api.environment import InterpreterEnvironment

from gradscribe.engine.language import static_only
from gradscribe.engine.language.catalogue import summary
from gradscribe.engine.protocol.language import (
    MAX_CHARS,
    MAX_NAMES,
    MAX_SIGNATURES,
    Complete,
    Completed,
    Describe,
    Described,
    Explain,
    Explained,
    KnownName,
    Locate,
    Located,
    NameKind,
)
from gradscribe.engine.protocol.structs import replace

PRELUDE = (
    "import math, torch; import numpy as np; import torch.nn.functional as F; "
    "from torch import device as _device, nn, optim, tensor; device = _device('cpu')\n"
    "def param(value: object, dtype: torch.dtype | None = None) -> torch.Tensor:\n"
    '    """Return a leaf that requires a gradient."""\n'
)
"""The names that every program starts with, for jedi to read before the program."""
SHIFT = PRELUDE.count("\n")
WARMING = (
    "",
    "torch.randn(1).",
    "nn.Linear(1, 1).",
    "F.",
    "optim.SGD([]).",
    "math.",
    "print(",
)
"""Ends of texts whose completion makes jedi read the packages that programs use, most used first.

Each is short, so that a request does not wait for all of them.
"""
MAX_SOURCE = 200_000
"""Maximum number of characters of a text that is analysed."""
MAX_DEPTH = 200
"""Deepest nesting of brackets that is analysed: Python's own limit (MAXLEVEL of its tokenizer).

jedi takes minutes for 20,000 of them.
"""
_BRACKET = re.compile(r"[()\[\]{}]")
_KINDS: dict[str, NameKind] = {
    "class": "class",
    "function": "function",
    "keyword": "keyword",
    "module": "package",
    "namespace": "package",
    "param": "parameter",
    "property": "attribute",
}
_OWNERS = {
    "torch._C._VariableFunctions": "torch",
    "torch._C.TensorBase": "torch.Tensor",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch._C._nn": "torch.nn.functional",
}
"""Module path in torch's stubs -> the path under which programs find the name."""
_QUALIFIED = re.compile(r"\b(?:typing|builtins|torch(?:\.\w+)*)\.(?=\w)")
_ALIAS = re.compile(r"\b_(int|float|bool|complex|size|dtype|device|layout)\b")


class _Place(Protocol):
    """A request about a place in a text."""

    @property
    def source(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class ProgramAnalysis:
    """Answers requests about programs of one folder; empty for programs that are not in a file.

    ``packages``: folders of packages that are read instead of those of this Python.
    """

    def __init__(self, folder: str = "", packages: Sequence[str] = ()) -> None:
        static_only.restrict()
        self._environment = InterpreterEnvironment()
        self._project = static_only.project(folder, packages)
        self._latest: dict[str, jedi.api.classes.Completion] = {}
        self.catalogue: dict[str, dict[str, KnownName]] = {}
        """torch's names, if they are known: path of the owner -> name -> what is known."""

    def warm_up(self) -> Iterator[None]:
        """Read the packages that programs use; yield after each piece of it."""
        for number, text in enumerate(WARMING, 1):
            if text.endswith("("):
                self.explain(Explain(0, text, 1, len(text)))
            else:
                self.complete(Complete(0, text, 1, len(text)))
            self._latest = {}
            if number < len(WARMING):
                yield

    def complete(self, request: Complete) -> Completed:
        """Return the names that may follow; empty if jedi has no answer."""
        _check(request)
        found = self._script(_in_scope(request)).complete(*_moved(request))[:MAX_NAMES]
        self._latest = {each.name: each for each in found}
        names = (KnownName(each.name, _KINDS.get(each.type, "variable")) for each in found)
        return Completed(request.serial, tuple(names))

    def describe(self, request: Describe) -> Described:
        """Return the signatures and the first sentence of a name of the latest completions."""
        found = self._latest.get(request.name)
        return Described(request.serial, None if found is None else _described(found))

    def explain(self, request: Explain) -> Explained:
        """Return the signatures of the call whose opening bracket stands before the place.

        A call of a module is a call of its forward.
        """
        found = self._script(request).get_signatures(*_moved(request))
        if not found:
            forward = _with_forward(request)
            found = self._script(forward).get_signatures(*_moved(forward))
        if not found:
            return Explained(request.serial)
        first = found[0]
        texts = tuple(_signature(each) for each in found[:MAX_SIGNATURES])
        known = KnownName(first.name, _KINDS.get(first.type, "function"), texts, _summary(first))
        listed = self._in_catalogue(first.full_name or "")
        if listed is not None:
            # The stubs of torch lack docstrings, and torch some of the signatures.
            known = replace(listed, signatures=listed.signatures or known.signatures)
        return Explained(request.serial, known)

    def _in_catalogue(self, path: str) -> KnownName | None:
        """Return torch's own description of a function, which its stubs lack."""
        owner, _, name = path.rpartition(".")
        return self.catalogue.get(_OWNERS.get(owner, owner), {}).get(name)

    def locate(self, request: Locate) -> Located:
        """Return the place of the definition of a name, or the package that has it."""
        script, place = self._script(request), _moved(request)
        elsewhere = ""
        for follow in (False, True):
            for found in script.goto(*place, follow_imports=follow):
                line, column = found.line or 0, found.column or 0
                if found.module_path is not None or found.in_builtin_module():
                    elsewhere = (found.module_name or "").split(".")[0]
                elif line <= SHIFT:
                    elsewhere = "Gradscribe"
                elif found.type != "module" or line != place[0]:
                    return Located(request.serial, line - SHIFT, column)
        return Located(request.serial, elsewhere=elsewhere[:MAX_CHARS])

    def _script(self, request: _Place) -> jedi.Script:
        _check(request)
        return jedi.Script(
            PRELUDE + request.source, project=self._project, environment=self._environment
        )


def _check(request: _Place) -> None:
    """Raise ValueError for a text that is too long or too deep, or a place that is not in it."""
    if len(request.source) > MAX_SOURCE:
        raise ValueError("the text is too long to be analysed")
    depth = 0
    for bracket in _BRACKET.findall(request.source):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            raise ValueError("the text has too many nested brackets to be analysed")
    lines = request.source.split("\n")
    if not 0 < request.line <= len(lines):
        raise ValueError("there is no such line")
    if not 0 <= request.column <= len(lines[request.line - 1]):
        raise ValueError("there is no such column")


def _moved(request: _Place) -> tuple[int, int]:
    return request.line + SHIFT, request.column


def _in_scope(request: Complete) -> Complete:
    """Return the request with a name at an empty place, which jedi else counts to no function."""
    lines = request.source.split("\n")
    text = lines[request.line - 1]
    if text[: request.column].strip() or text[request.column :].strip():
        return request
    lines[request.line - 1] = f"{text[: request.column]}x"
    return replace(request, source="\n".join(lines))


def _with_forward(request: Explain) -> Explain:
    """Return the request about ``net.forward(`` where it is about ``net(``."""
    lines = request.source.split("\n")
    text = lines[request.line - 1]
    lines[request.line - 1] = f"{text[: request.column - 1]}.forward{text[request.column - 1 :]}"
    return replace(request, source="\n".join(lines), column=request.column + len(".forward"))


def _signature(found: jedi.api.classes.BaseSignature) -> str:
    text = found.to_string()
    if found.type in ("class", "instance"):
        text = text.removesuffix(" -> None")
    return _plain(text[len(found.name) :] if text.startswith(found.name) else text)


def _plain(text: str) -> str:
    """Return a signature without the packages of its types, and without torch's private aliases."""
    return _ALIAS.sub(r"\1", _QUALIFIED.sub("", text))[:MAX_CHARS]


def _summary(found: jedi.api.classes.BaseName) -> str:
    return summary(found.docstring(raw=True), found.name)[:MAX_CHARS]


def _described(found: jedi.api.classes.BaseName) -> KnownName:
    texts = tuple(_signature(each) for each in found.get_signatures()[:MAX_SIGNATURES])
    return KnownName(found.name, _KINDS.get(found.type, "variable"), texts, _summary(found))
