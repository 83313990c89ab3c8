"""PyTorch's own table of derivatives, read from the installed PyTorch.

``torchgen/packaged/autograd/derivatives.yaml`` is what autograd's C++ was generated from: for each
operator and argument the formula of its gradient. It is parsed here line by line, since it uses
only a small part of YAML. A backward node is named after its operator and numbered in the order of
the file, as in ``torchgen.packaged.autograd.load_derivatives``.
"""

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from gradscribe.engine.protocol.tape import Formula

TABLE = "packaged/autograd/derivatives.yaml"
_ENTRY = re.compile(r"- name: +(?P<name>[\w.]+)\((?P<arguments>.*)\) -> ")
_FIELD = re.compile(r"(?P<indent> +)(?P<key>[\w, ]+):(?: (?P<text>.*))?$")
_NONE = {"non_differentiable", "auto_element_wise", "auto_linear"}


def formulas_for(nodes: Iterable[str]) -> tuple[Formula, ...]:
    """Return the table's entries for backward nodes of these names, each once, in order."""
    known = load_table()
    return tuple(known[name] for name in dict.fromkeys(nodes) if name in known)


@cache
def load_table() -> dict[str, Formula]:
    """Return the whole table by node name; empty if PyTorch came without it."""
    found = importlib.util.find_spec("torchgen")
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        path = Path(folder) / TABLE
        if path.is_file():
            return parse_table(path.read_text(encoding="utf-8"))
    return {}


def parse_table(text: str) -> dict[str, Formula]:
    """Return the formulas of a table's text by node name."""
    found: dict[str, Formula] = {}
    numbers: Counter[str] = Counter()
    for schema, fields in _entries(text):
        match = _ENTRY.match(schema)
        if match is None:
            continue
        operator = match["name"]
        arguments = _argument_names(match["arguments"])
        gradients = _gradients(fields, arguments)
        if not gradients:
            continue
        words = operator.partition(".")[0].split("_")
        prefix = "".join(word.title() for word in words) + "Backward"
        prefix = prefix.replace("ForwardBackward", "Backward")
        name = f"{prefix}{numbers[prefix]}"
        numbers[prefix] += 1
        found[name] = Formula(name, operator, arguments, tuple(gradients))
    return found


def _entries(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the first line of each entry, and its keys and values with dispatch flattened."""
    head = ""
    fields: list[tuple[str, str]] = []
    deep = False
    for line in text.splitlines():
        bare = line.split(" #")[0].rstrip() if " #" in line else line.rstrip()
        if not bare or bare.startswith("#"):
            continue
        if bare.startswith("- name: "):
            if head:
                yield head, fields
            head, fields, deep = bare, [], False
            continue
        match = _FIELD.match(bare)
        if match is None or (len(match["indent"]) > 2 and not deep):
            if fields:
                fields[-1] = (fields[-1][0], f"{fields[-1][1]} {bare.strip()}".strip())
            continue
        deep = deep or match["key"] == "dispatch"
        fields.append((match["key"], (match["text"] or "").strip()))
    if head:
        yield head, fields


def _gradients(
    fields: list[tuple[str, str]], arguments: tuple[str, ...]
) -> list[tuple[tuple[str, ...], str]]:
    """Return argument names and their formula; of several dispatch keys only the default."""
    found = []
    for key, formula in fields:
        if key == "Default" or key in ("dispatch", "output_differentiability"):
            continue
        if key.startswith("Autograd"):
            break
        if formula[:1] == formula[-1:] and formula[:1] in ("'", '"'):
            formula = formula[1:-1].replace("''", "'")
        names = tuple(name.strip() for name in key.split(","))
        if set(names) <= set(arguments) and formula not in _NONE:
            found.append((names, formula))
    return found


def _argument_names(arguments: str) -> tuple[str, ...]:
    """Return the names in a schema: ``Tensor self, int[2] k=1, *, Scalar alpha`` -> three."""
    depth, part, parts = 0, "", []
    for letter in arguments + ",":
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    named = [
        argument.partition("=")[0].split()[-1] for argument in parts if argument and argument != "*"
    ]
    return tuple(named)
