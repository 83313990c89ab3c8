"""Candidates for the word at the caret, from all that is known without asking.

A package or a class of torch is known completely; a tensor or a module of the last run has the
members of its class. All else the language process finds out, and `merged` adds.
"""

import builtins
import keyword
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gradscribe.engine.protocol.language import KnownName, NameKind
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.completion.caret import CallAtCaret, Caret
from gradscribe.playback.completion.live_names import LiveName
from gradscribe.playback.completion.signature import new_keywords, parse
from gradscribe.playback.completion.source_names import START_NAMES, SourceNames

Owners = Mapping[str, Sequence[KnownName]]
"""The members of torch's packages and classes: path -> names."""
TENSOR, MODULE = "torch.Tensor", "torch.nn.Module"
MAX_SHOWN = 2_000
"""Maximum number of candidates in a list."""
_TENSOR_MEMBERS = frozenset(("T", "mT", "H", "mH", "grad", "data", "real", "imag"))
"""Members of a tensor that are tensors themselves."""
_BUILTINS: dict[str, NameKind] = {
    name: "class" if isinstance(getattr(builtins, name), type) else "function"
    for name in dir(builtins)
    if not name.startswith("_") and name not in keyword.kwlist
}


class Candidate(Struct, frozen=True):
    """A word that may be inserted; ``detail`` stands at the right of its row."""

    name: str
    kind: NameKind
    detail: str = ""
    signatures: tuple[str, ...] = ()
    summary: str = ""
    group: int = 0
    """Names of a lower group come first among equally good matches."""


class Known(Struct, frozen=True):
    """All that is known without asking: the text, the last run, and torch."""

    source: SourceNames
    live: Mapping[str, LiveName]
    owners: Owners


class Offer(Struct, frozen=True):
    """Candidates; ``is_whole`` if nothing else can complete the word.

    ``guesses`` are for a list that would be empty: the members of a tensor, which most results are.
    """

    candidates: tuple[Candidate, ...] = ()
    is_whole: bool = False
    guesses: tuple[Candidate, ...] = ()


LOCAL, MEMBER, START, BUILTIN, KEYWORD, HIDDEN = range(6)
"""Groups of candidates."""


def offer(caret: Caret, known: Known, call: CallAtCaret | None = None) -> Offer:
    """Return the candidates for a caret, unfiltered by its prefix."""
    if caret.is_new:
        return Offer(is_whole=True)
    if caret.is_package:
        return _packages(caret, known)
    if caret.is_imported:
        members = known.owners.get(caret.owner)
        return Offer(_members(members or ()), members is not None)
    if caret.is_member:
        return _members_of(caret.owner, known)
    return Offer((*_keywords(call, known), *_names(known)))


def called(call: CallAtCaret, known: Known) -> KnownName | None:
    """Return what a call calls, if it is one of torch's functions or classes."""
    owner, _, name = call.path.rpartition(".")
    path = resolved(owner, known) if owner else ""
    if not owner:
        whole = known.source.paths.get(name, "")
        path, _, name = whole.rpartition(".") if whole else ("", "", name)
        if name == "tensor" and name not in known.source.kinds:
            path = "torch"
    return next((one for one in known.owners.get(path, ()) if one.name == name), None)


def resolved(path: str, known: Known) -> str:
    """Return the path in `Owners` that a dotted path of the program stands for; empty if none."""
    root, _, rest = path.partition(".")
    if root in known.source.paths:
        whole = ".".join(filter(None, (known.source.paths[root], rest)))
        if whole in known.owners:
            return whole
    live = known.live.get(path)
    if live is not None and live.kind in ("tensor", "module"):
        return TENSOR if live.kind == "tensor" else MODULE
    above, _, last = path.rpartition(".")
    is_tensor = last in _TENSOR_MEMBERS or last.isdigit()
    if above and is_tensor and resolved(above, known) == TENSOR:
        return TENSOR
    return ""


def merged(caret: Caret, mine: Offer, names: Iterable[KnownName]) -> tuple[Candidate, ...]:
    """Return the candidates with those of the language process, which knows what is in scope.

    A name that the text defines elsewhere is dropped if it is not among ``names``. Without any
    names the guesses take their place.
    """
    found = {name.name: name for name in names}
    if not found:
        return mine.candidates or mine.guesses
    there = {one.name for one in mine.candidates}
    scoped = not caret.is_member and not caret.is_imported
    stays = [
        one
        for one in mine.candidates
        if not scoped
        or one.group != LOCAL
        or one.name in found
        or one.name.endswith("=")
        or not one.name.startswith(caret.prefix)
    ]
    new = [
        Candidate(one.name, one.kind, group=_group(one, caret))
        for one in found.values()
        if one.name not in there
    ]
    return (*stays, *new)


def _group(name: KnownName, caret: Caret) -> int:
    if name.name.startswith("_"):
        return HIDDEN
    if caret.is_member or caret.is_imported:
        return MEMBER
    if name.kind == "keyword":
        return KEYWORD
    return BUILTIN if name.name in _BUILTINS else LOCAL


def matching(
    candidates: Iterable[Candidate], prefix: str, used: frozenset[str] = frozenset()
) -> list[Candidate]:
    """Return the candidates that fit a prefix, the best first.

    A name fits if it begins with the prefix, in any case, or has it in it. Names ``used`` in the
    text come first, hidden ones only if the prefix begins with an underscore.
    """
    lower = prefix.lower()
    fits = []
    for one in candidates:
        name = one.name.lower()
        if one.group == HIDDEN and not prefix.startswith("_"):
            continue
        if one.name == prefix:
            quality = -1
        elif one.name.startswith(prefix):
            quality = 0
        elif name.startswith(lower):
            quality = 1
        elif len(prefix) > 2 and lower in name:
            quality = 2
        else:
            continue
        in_use = one.name.rstrip("=") in used and quality < 2
        fits.append((quality, not in_use, one.group, name.rstrip("_"), one.name, one))
    fits.sort(key=lambda fit: fit[:-1])
    return [fit[-1] for fit in fits[:MAX_SHOWN]]


def _packages(caret: Caret, known: Known) -> Offer:
    if not caret.owner:
        return Offer((Candidate("torch", "package"),))
    members = known.owners.get(caret.owner)
    found = _members(one for one in members or () if one.kind == "package")
    return Offer(found, members is not None)


def _members_of(path: str, known: Known) -> Offer:
    own = {
        name: _live(name, known.live[f"{path}.{name}"])
        for name in _parts(path, known.live)
        if path and name.isidentifier()
    }
    if path == "self":
        own |= {name: Candidate(name, "attribute", group=MEMBER) for name in known.source.members}
    owner = resolved(path, known) if path else ""
    others = [one for one in _members(known.owners.get(owner, ())) if one.name not in own]
    # A module of the program has members of its own, which the last run need not show.
    guesses = () if path else _members(known.owners.get(TENSOR, ()))
    return Offer((*own.values(), *others), bool(owner) and owner != MODULE, guesses)


def _parts(path: str, live: Mapping[str, LiveName]) -> dict[str, None]:
    start = f"{path}."
    below = (name[len(start) :] for name in live if name.startswith(start))
    return {name: None for name in below if "." not in name}


def _members(names: Iterable[KnownName]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            one.name,
            one.kind,
            signatures=one.signatures,
            summary=one.summary,
            group=HIDDEN if one.name.startswith("_") else MEMBER,
        )
        for one in names
    )


def _live(name: str, live: LiveName) -> Candidate:
    kind: NameKind = "tensor" if live.kind == "tensor" else "attribute"
    return Candidate(name, "module" if live.kind == "module" else kind, live.text, group=LOCAL)


def _keywords(call: CallAtCaret | None, known: Known) -> tuple[Candidate, ...]:
    """Return the keywords of the call around the caret, unless its argument has one already."""
    callee = called(call, known) if call is not None and not call.keyword else None
    if callee is None or call is None:
        return ()
    found = new_keywords([parse(text) for text in callee.signatures], call)
    return tuple(
        Candidate(f"{name}=", "parameter", text, group=LOCAL) for name, text in found.items()
    )


def _names(known: Known) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for name, kind in known.source.kinds.items():
        found[name] = Candidate(name, kind, known.source.paths.get(name, ""), group=LOCAL)
    for path, live in known.live.items():
        root = path.partition(".")[0]
        if root == path and live.kind != "part" and root in found:
            found[root] = replace(_live(root, live), group=LOCAL)
    for name, path in known.source.paths.items():
        found.setdefault(name, Candidate(name, "package", path, group=START))
    torch = {one.name: one for one in known.owners.get("torch", ())}
    for name, kind in START_NAMES.items():
        summary = torch[name].summary if name in torch else ""
        texts = torch[name].signatures if name == "tensor" and name in torch else ()
        found.setdefault(name, Candidate(name, kind, "", texts, summary, START))
    for name, kind in _BUILTINS.items():
        found.setdefault(name, Candidate(name, kind, group=BUILTIN))
    for name in keyword.kwlist:
        found.setdefault(name, Candidate(name, "keyword", group=KEYWORD))
    return list(found.values())
