"""Messages about a program's text: completions, signatures, definitions.

Lines count from 1, columns from 0 in characters. ``serial`` identifies a request; its reply has the
same.
"""

from typing import Literal

from msgspec import Struct

NameKind = Literal[
    "attribute",
    "class",
    "function",
    "keyword",
    "module",
    "package",
    "parameter",
    "tensor",
    "variable",
]
"""Kind of a name. A ``module`` is one of ``torch.nn``, a ``package`` can be imported."""

MAX_NAMES = 1 << 13
"""Maximum number of names in a list of completions, or of names of one owner."""
MAX_OWNERS = 64
MAX_SIGNATURES = 64
MAX_CHARS = 1 << 12
"""Maximum number of characters of a name, a signature or a summary."""


class KnownName(Struct, frozen=True, array_like=True, gc=False):
    """A name that completes a text.

    ``signatures`` are as Python writes them, from the opening bracket on: ``(dim=None) -> Tensor``.
    """

    name: str
    kind: NameKind = "variable"
    signatures: tuple[str, ...] = ()
    summary: str = ""
    """The first sentence of its docstring."""


class Complete(Struct, frozen=True, tag=True):
    """Request the names that may follow in ``source`` at a place."""

    serial: int
    source: str
    line: int
    column: int


class Describe(Struct, frozen=True, tag=True):
    """Request more about one name of the latest completions."""

    serial: int
    name: str


class Explain(Struct, frozen=True, tag=True):
    """Request the signatures of the call whose opening bracket stands before the place."""

    serial: int
    source: str
    line: int
    column: int


class Locate(Struct, frozen=True, tag=True):
    """Request the definition of the name at a place."""

    serial: int
    source: str
    line: int
    column: int


class TorchNames(Struct, frozen=True, tag=True):
    """The members of torch's packages and classes: path (``torch.nn``) -> names."""

    owners: dict[str, tuple[KnownName, ...]]


class Completed(Struct, frozen=True, tag=True):
    """Reply to `Complete`."""

    serial: int
    names: tuple[KnownName, ...] = ()


class Described(Struct, frozen=True, tag=True):
    """Reply to `Describe`; None if nothing more is known."""

    serial: int
    known: KnownName | None = None


class Explained(Struct, frozen=True, tag=True):
    """Reply to `Explain`: the called name, once for each of its signatures."""

    serial: int
    called: KnownName | None = None


class Located(Struct, frozen=True, tag=True):
    """Reply to `Locate`: the place of the definition, line 0 if it is not in this text.

    ``elsewhere`` names the package that defines it instead; empty if it is unknown.
    """

    serial: int
    line: int = 0
    column: int = 0
    elsewhere: str = ""


LanguageRequest = Complete | Describe | Explain | Locate
LanguageReply = TorchNames | Completed | Described | Explained | Located


def find_flaw(reply: LanguageReply) -> str:
    """Return the first flaw of a reply, a list or a text over its limit; empty if it has none."""
    names: list[KnownName] = []
    match reply:
        case TorchNames(owners):
            if len(owners) > MAX_OWNERS or any(len(list_) > MAX_NAMES for list_ in owners.values()):
                return "too many names"
            names = [name for members in owners.values() for name in members]
        case Completed(_, known):
            if len(known) > MAX_NAMES:
                return "too many names"
            names = list(known)
        case Described(known=KnownName() as known) | Explained(called=KnownName() as known):
            names = [known]
        case Located():
            if min(reply.line, reply.column) < 0 or len(reply.elsewhere) > MAX_CHARS:
                return "an impossible place"
    return "a text that is too long" if any(map(_is_too_long, names)) else ""


def _is_too_long(name: KnownName) -> bool:
    texts = (name.name, name.summary, *name.signatures)
    return len(name.signatures) > MAX_SIGNATURES or max(map(len, texts)) > MAX_CHARS
