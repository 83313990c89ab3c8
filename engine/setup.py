"""The setup of a training run: plain data that both sides, the JSON file and the script share.

A setup is as small as ``{"data": "sine", "model": "mlp", "steps": 500}``: everything else has a
default. A *part* names an entry of the catalogue and its options, in JSON either ``"adam"`` or
``{"name": "adam", "lr": 0.01}``. A text may have words around it: ``{"title": "Two moons", "about":
"What to look for", "setup": {...}}``. Which entries and options exist is the engine's to know: see
`engine.training.Catalogue`.
"""

import json
import math
import re
from typing import Literal

import msgspec
from msgspec import Struct

from engine.option_homes import home

Plain = None | bool | int | float | str | list[object] | dict[str, object]
"""What an option may be: JSON."""
Mode = Literal["auto", "reference", "captured"]

MISTAKES = {
    "no_zero_grad": "Gradients are never cleared, so each step adds to all before",
    "column_target": "The target lost its last dimension: (N, 1) against (N) broadcasts to (N, N)",
    "validate_in_train_mode": "Validation runs in train mode: dropout and batch norm disturb it",
    "validate_with_grad": "Validation builds a graph that nobody needs",
    "keep_graphs": "Every loss is kept with its graph, so memory grows",
    "softmax_first": "A softmax stands before cross-entropy, which applies its own",
    "huge_lr": "The learning rate is 100 times as big, and at least 100; 100000 for adadelta",
    "freeze_first": "The first layer is frozen: requires_grad is False",
    "wrong_device": "The data lies on another device than the model",
}
"""The mistakes that can be made on purpose, and what each one does."""


class BadSetup(ValueError):
    """A setup that cannot be run; the text is one clear line, ``place`` the key at fault."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class Part(Struct, frozen=True):
    """One entry of the catalogue by ``name``, and the options that differ from its defaults."""

    name: str
    options: dict[str, Plain] = {}


class Setup(Struct, frozen=True):
    """All that decides a run. Two equal setups give equal runs, bit for bit, on one machine."""

    data: Part = Part("circle")
    model: Part = Part("mlp")
    loss: Part | None = None
    """None: the one that fits the data."""
    optimizer: Part = Part("adam")
    schedule: Part | None = None
    steps: int = 1000
    """Where a headless run ends; a window's run pauses there if a file gives it."""
    batch: int = 0
    """Examples in a batch; 0 is all of the training data, in order."""
    shuffle: bool = True
    drop_last: bool = False
    train: float = 0.8
    """Share of the data that is trained on; the rest is for validation."""
    validate_every: int = 50
    """Steps between two validation losses; 0: never."""
    features: tuple[str, ...] = ()
    """Columns made from the inputs: ``x1 x2 x1^2 x2^2 x1*x2 sin(x1) sin(x2)``; empty: inputs."""
    standardize: bool = False
    """Shift and scale each input, and a regression's targets, by the training data's mean, std."""
    l1: float = 0.0
    """Times the sum of the weights' absolute values, added to the loss."""
    l2: float = 0.0
    """Times half the sum of the weights' squares, added to the loss."""
    clip_norm: float = 0.0
    """Largest norm of all gradients together; 0: no clipping."""
    clip_value: float = 0.0
    accumulate: int = 1
    """Batches whose gradients are added up for one step."""
    frozen: tuple[str, ...] = ()
    """Parameters, or modules by the beginning of their names, that do not learn."""
    seed: int = 0
    """Seeds weights, data and order where their own seeds are None."""
    weight_seed: int | None = None
    data_seed: int | None = None
    device: str = "cpu"
    dtype: str = "float32"
    amp: str = ""
    """Dtype of autocast, ``float16`` or ``bfloat16``; float16 brings a GradScaler."""
    threads: int = 1
    mode: Mode = "auto"
    mistakes: tuple[str, ...] = ()


_KEYS = {field.name: field for field in msgspec.structs.fields(Setup)}
_MODES = "auto, reference or captured"
_KINDS: dict[object, str] = {
    int: "a whole number",
    int | None: "a whole number, or null",
    float: "a number",
    bool: "true or false",
    str: "a text",
    Mode: _MODES,
    tuple[str, ...]: "a list of names",
}
LONGEST_WORD = 60
_PARTS = ("data", "model", "loss", "optimizer", "schedule")
_AROUND = {"title", "about", "setup"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\d[\d.eE+-]*)', re.DOTALL)
"""A text of JSON's, or a number."""


def parse(given: object) -> Setup:
    """Return the setup that a JSON value describes.

    Raises:
        BadSetup: it is no object, has an unknown key, or a value of the wrong kind.
    """
    if not isinstance(given, dict):
        raise BadSetup('a setup is an object like {"data": "sine", "model": "mlp"}')
    clean: dict[str, object] = {}
    for key, value in given.items():
        if key not in _KEYS:
            belongs = home(str(key), value)
            why = f": {belongs}" if belongs else near(str(key), _KEYS)
            raise BadSetup(f"unknown key {shown(key)}{why}", str(key))
        if key in _PARTS:
            clean[key] = _counted(_part(key, value))
        else:
            clean[key] = _counted(value) if _KEYS[key].type in (int, int | None) else value
    for key, value in clean.items():
        try:
            msgspec.convert({key: value}, Setup)
        except msgspec.ValidationError as error:
            if "enum value" in str(error):
                raise BadSetup(f"{key} is {shown(value)}, but must be {_MODES}", key) from None
            word = json.dumps(value, ensure_ascii=False)
            told = word if len(word) <= LONGEST_WORD else word[:LONGEST_WORD] + "…"
            raise BadSetup(
                f"{key} is {told}, which is not {_KINDS[_KEYS[key].type]}", key
            ) from None
    setup = msgspec.convert(clean, Setup)
    check(setup)
    return setup


def parse_text(text: str | bytes) -> Setup:
    """Return the setup that a JSON text describes; raises `BadSetup`."""
    return parse(_decoded(text))


def steps_in(text: str | bytes) -> int | None:
    """Return the steps that a JSON text asks for; None where it leaves them out.

    Raises:
        BadSetup: it is no setup.
    """
    setup, given = parse_text(text), _decoded(text)
    return setup.steps if isinstance(given, dict) and "steps" in given else None


def _decoded(text: str | bytes) -> object:
    """Return what a JSON text says, without the words around it; raises `BadSetup`."""
    try:
        given = msgspec.json.decode(text)
        twice = _given_twice(text)
    except RecursionError:
        raise BadSetup("this is not JSON that a setup can be: it lies too deep in itself") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadSetup(f"this is not JSON: {_where(str(error), text)}") from None
    if twice is not None:
        raise BadSetup(f"{shown(twice)} is given twice in one object", twice)
    if isinstance(given, dict) and "setup" in given and given.keys() <= _AROUND:
        return given["setup"]
    return given


def _given_twice(text: str | bytes) -> str | None:
    """Return a key that an object of a JSON text has twice: only the last would be heard of."""
    found: list[str] = []

    def gather(pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            found.append(next(key for at, key in enumerate(keys) if key in keys[:at]))
        return made

    words = text.decode() if isinstance(text, bytes) else text
    json.loads(words.removeprefix("\ufeff"), object_pairs_hook=gather, strict=False)
    return found[0] if found else None


def _where(error: str, text: str | bytes) -> str:
    """Return what is wrong with a JSON text, by line and column."""
    words, _, place = error.removeprefix("JSON is malformed: ").partition(" (byte ")
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    if place:
        at = int(place.removesuffix(")"))
    elif (far := _out_of_range(data)) is not None:
        words, at = "a number is out of range", far
    else:
        return words.partition(" - at ")[0]
    before, rest = data[:at].decode("utf-8", "replace"), data[at:]
    for number in (b"NaN", b"Infinity", b"-Infinity", b"nfinity"):
        if rest.startswith(number):
            words = "NaN and Infinity are no numbers of JSON"
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"{words}, in line {line}, column {column}"


def _out_of_range(data: bytes) -> int | None:
    """Return where in a JSON text a number begins that is too big or too long to be read."""
    # A byte of UTF-8 is a character of Latin-1, so places stay what they are.
    for found in _TOKEN.finditer(data.decode("latin-1")):
        try:
            msgspec.json.decode(found[1] or "0")
        except msgspec.DecodeError as error:
            if str(error).endswith("out of range"):
                return found.start()
    return None


def _counted(value: object, depth: int = 4) -> object:
    """Return a value of JSON's with 1000 for 1e3 and 1000.0: there it is the same number.

    ``depth``: of lists and objects in which to look; the rows of an option lie at the bottom.
    """
    match value:
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return int(value)
        case list() if depth:
            return [_counted(one, depth - 1) for one in value]
        case dict() if depth:
            return {key: _counted(one, depth - 1) for key, one in value.items()}
    return value


def _part(key: str, value: object) -> object:
    if value is None and key in ("loss", "schedule"):
        return None
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise BadSetup(f'{key} is a name or an object with a "name"', key)
    if set(value) == {"name", "options"} and isinstance(value["options"], dict):
        return value
    return {"name": value["name"], "options": {k: v for k, v in value.items() if k != "name"}}


def plain(setup: Setup) -> dict[str, object]:
    """Return the setup as the short JSON that `parse` reads, defaults left out."""
    result: dict[str, object] = {}
    for name in _KEYS:
        value = getattr(setup, name)
        if isinstance(value, Part):
            value = {"name": value.name, **value.options} if value.options else value.name
        if name in ("data", "model") or getattr(setup, name) != getattr(Setup(), name):
            result[name] = list(value) if isinstance(value, tuple) else value
    return result


def elsewhere(kind: str, name: str, value: Plain) -> str:
    """Return a hint at where the option ``name`` belongs that a ``kind`` lacks, or nothing."""
    if name in _KEYS:
        return "it stands beside the parts, at the top level of the setup"
    return home(name, value, kind)


def shown(word: object) -> str:
    """Return a word of the setup's as a message quotes it: in one line, and not all of a book."""
    text = str(word)
    return repr(text if len(text) <= LONGEST_WORD else text[:LONGEST_WORD] + "…")


def is_finite(number: float) -> bool:
    """Whether a number is one that a computer's float can be; a long whole number may not."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def near(word: str, known: object) -> str:
    """Return a hint at the known word that ``word`` may have meant, or nothing."""
    import difflib

    if len(word) > LONGEST_WORD:
        return ""
    close = difflib.get_close_matches(word.lower(), [str(one) for one in known], 1)  # type: ignore[attr-defined]
    return f"; did you mean {close[0]!r}?" if close else ""


_AT_LEAST: dict[str, float] = {
    "steps": 0,
    "batch": 0,
    "validate_every": 0,
    "l1": 0,
    "l2": 0,
    "clip_norm": 0,
    "clip_value": 0,
    "accumulate": 1,
    "threads": 0,
    "seed": 0,
    "weight_seed": 0,
    "data_seed": 0,
}
MOST_THREADS = 256
"""More than a system gives end the engine: OpenMP does not come back from that."""
_DTYPES = ("float32", "float64", "bfloat16", "float16")


def check(setup: Setup) -> None:
    """Refuse numbers out of range; whether names exist is the engine's to know.

    Raises:
        BadSetup: with the key in ``place``.
    """
    for key, least in _AT_LEAST.items():
        value = getattr(setup, key)
        if isinstance(value, int) and abs(value) >= 2**63:
            raise BadSetup(f"{key} is too big", key)
        if value is not None and not (math.isfinite(value) and value >= least):
            raise BadSetup(f"{key} is {value}, but must be at least {least:g}", key)
    if setup.threads > MOST_THREADS:
        raise BadSetup(f"threads is {setup.threads}, but must be at most {MOST_THREADS}", "threads")
    if not 0 < setup.train <= 1:
        raise BadSetup(f"train is {setup.train}, but must be above 0 and at most 1", "train")
    if setup.dtype not in _DTYPES:
        raise BadSetup(
            f"dtype is {shown(setup.dtype)}, but must be one of {', '.join(_DTYPES)}", "dtype"
        )
    if setup.amp not in ("", "float16", "bfloat16"):
        raise BadSetup(f"amp is {shown(setup.amp)}, but must be float16, bfloat16 or empty", "amp")
    for name in setup.mistakes:
        if name not in MISTAKES:
            raise BadSetup(f"no mistake called {shown(name)}{near(name, MISTAKES)}", "mistakes")
