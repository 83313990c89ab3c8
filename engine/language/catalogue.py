"""The names of torch: members of its packages and classes, with signatures and first sentences.

It is written to standard output by a process that imports torch for this and ends, so that the
language process need not have torch in its memory.
"""

import importlib
import inspect
import re
import sys
import types

import msgspec

from gradscribe.engine.protocol.language import MAX_CHARS, KnownName, NameKind, TorchNames
from gradscribe.engine.protocol.structs import replace

OWNERS = (
    "torch",
    "torch.Tensor",
    "torch.autograd",
    "torch.cuda",
    "torch.distributions",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.nn",
    "torch.nn.Module",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.optim",
    "torch.optim.Optimizer",
    "torch.optim.lr_scheduler",
    "torch.random",
    "torch.special",
    "torch.utils",
    "torch.utils.data",
)
SUMMARY = 300
"""Maximum number of characters of a summary."""
MAX_OVERLOADS = 8
MAX_PART = 60
"""Maximum number of characters of an annotation or a default."""
_ROLE = re.compile(r":[a-z:]+:`~?([^`<]*?)(?:\s*<[^`>]*>)?`")
_NO_TEXT = re.compile(r"^\s*(\.\. |:|\.\.\s*$|>>>)")
_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+>")
_QUALIFIER = re.compile(r"\b(?:typing|collections\.abc|torch(?:\.\w+)*)\.(?=[A-Z_])")
_REFERENCE = re.compile(r"See (torch\.[\w.]*\w)(?:\(\))?\.?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


def read_torch() -> TorchNames:
    """Return the names of the installed torch, which is imported."""
    owners = {}
    for path in OWNERS:
        owner = _find(path)
        if owner is not None:
            owners[path] = members(owner)
    return TorchNames(_with_summaries(owners))


def _with_summaries(
    owners: dict[str, tuple[KnownName, ...]],
) -> dict[str, tuple[KnownName, ...]]:
    """Replace summaries such as "See torch.sum" by those that they refer to."""
    summaries = {
        f"{path}.{known.name}": known.summary
        for path, names in owners.items()
        for known in names
        if known.summary
    }

    def resolved(known: KnownName) -> KnownName:
        found = _REFERENCE.fullmatch(known.summary)
        text = summaries.get(found[1], "") if found else ""
        return replace(known, summary=text) if text else known

    return {path: tuple(map(resolved, names)) for path, names in owners.items()}


def members(owner: object) -> tuple[KnownName, ...]:
    """Return the names of a package or class, private ones included, dunders of packages not."""
    names = set(dir(owner))
    if isinstance(owner, type):
        names |= set(getattr(owner, "__annotations__", ()))
    else:
        names = {
            name for name in names if not name.startswith("__") and not _is_foreign(owner, name)
        }
    return tuple(_known(owner, name) for name in sorted(names, key=lambda n: (n.lower(), n)))


def _is_foreign(package: object, name: str) -> bool:
    """Return whether a package has imported a name for itself, such as ``os`` or ``Any``."""
    member = vars(package).get(name)
    home = member.__name__ if isinstance(member, types.ModuleType) else _home(member)
    return isinstance(home, str) and home.split(".")[0] in sys.stdlib_module_names - {"builtins"}


def _home(member: object) -> object:
    # Numbers, and what torch declares itself as built in, have a home in no package.
    return getattr(member, "__module__", None) if callable(member) else None


def _find(path: str) -> object | None:
    root, *rest = path.split(".")
    found: object = importlib.import_module(root)
    done = root
    for name in rest:
        done = f"{done}.{name}"
        if not hasattr(found, name):
            try:
                importlib.import_module(done)
            except ImportError:
                return None
        found = getattr(found, name)
    return found


def _known(owner: object, name: str) -> KnownName:
    try:
        member = inspect.getattr_static(owner, name)
    except AttributeError:
        # A name that a package makes when it is asked for, or an annotation without a value.
        return KnownName(name, "attribute")
    member = getattr(member, "__func__", member)
    kind = _kind(member, isinstance(owner, type))
    documented = kind in ("function", "class", "module") or isinstance(
        member, property | types.GetSetDescriptorType
    )
    text = _docstring(member) if documented else ""
    called = kind in ("function", "class", "module")
    found = signatures(member, name, text, bound=isinstance(owner, type)) if called else ()
    return KnownName(name, kind, found, summary(text, name))


def _kind(member: object, in_class: bool) -> NameKind:
    import torch

    if isinstance(member, types.ModuleType):
        return "package"
    if isinstance(member, type):
        return "module" if issubclass(member, torch.nn.Module) else "class"
    if isinstance(member, property | types.GetSetDescriptorType | types.MemberDescriptorType):
        return "attribute"
    if callable(member):
        return "function"
    return "attribute" if in_class else "variable"


def _docstring(member: object) -> str:
    text = getattr(member, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def signatures(member: object, name: str, text: str, *, bound: bool = False) -> tuple[str, ...]:
    """Return the signatures of a callable: its own, else those that its docstring begins with.

    ``bound``: the first parameter is the object itself, which is left out.
    """
    try:
        found = inspect.signature(member)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return _documented_signatures(name, text)
    shown = [p for p in found.parameters.values() if not _is_hidden(p)]
    is_class = isinstance(member, type)
    if bound and shown and not is_class and shown[0].name in ("self", "cls"):
        shown = shown[1:]
    result = inspect.Signature.empty if is_class else _words(found.return_annotation)
    plain = found.replace(parameters=list(map(_plain, shown)), return_annotation=result)
    documented = _documented_signatures(name, text)
    if all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in shown) and documented:
        return documented
    return (_cut(str(plain)),)


def _is_hidden(parameter: inspect.Parameter) -> bool:
    is_optional = parameter.default is not inspect.Parameter.empty
    return parameter.name.startswith("_") and is_optional


class _Written:
    """An annotation, shown as it is written in source text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default
    if default is not inspect.Parameter.empty and not isinstance(
        default, str | int | float | bool | tuple | type(None)
    ):
        default = _Written(_short(getattr(default, "__name__", None) or repr(default)))
    return parameter.replace(annotation=_words(parameter.annotation), default=default)


def _words(annotation: object) -> object:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Written(_short(_QUALIFIER.sub("", text)))


def _short(text: str) -> str:
    return text if len(text) <= MAX_PART and " at 0x" not in text else "…"


def _documented_signatures(name: str, text: str) -> tuple[str, ...]:
    """Return the signatures at the beginning of a docstring and in its function directives."""
    found = []
    start = re.compile(rf"^(?:\.\. (?:function|method):: |\s*)?(?:torch\.)?{re.escape(name)}(?=\()")
    for number, line in enumerate(text.splitlines()):
        match = start.match(line)
        if match and (number == 0 or line.startswith("..")):
            whole = _balanced(line[match.end() :].replace("\\*", "*"))
            if whole and whole not in found:
                found.append(whole)
    return tuple(map(_cut, found[:MAX_OVERLOADS]))


def _balanced(text: str) -> str:
    """Return ``text`` up to its closing bracket, and the result if one follows."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            arrow = re.match(r"\s*->\s*(.+)", text[at + 1 :])
            return text[: at + 1] + (f" -> {arrow[1].strip()}" if arrow else "")
    return ""


def summary(text: str, name: str = "") -> str:
    """Return the first sentence of a docstring without its markup."""
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())
        is_signature = bool(name) and bool(re.match(rf"(torch\.)?{re.escape(name)}\s*\(", line))
        if line and not is_signature and not _NO_TEXT.match(line):
            sentence = _SENTENCE.split(_ROLE.sub(r"\1", line).replace("``", ""), maxsplit=1)[0]
            plain = sentence.replace("`", "").replace("\\", "").replace("**", "")
            return plain if len(plain) <= SUMMARY else f"{plain[: SUMMARY - 1]}…"
    return ""


def _cut(text: str) -> str:
    text = _ADDRESS.sub("…", _QUALIFIER.sub("", text))
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def main() -> None:
    """Write the catalogue to standard output."""
    sys.stdout.buffer.write(msgspec.msgpack.encode(read_torch()))


if __name__ == "__main__":
    main()
