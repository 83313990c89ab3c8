"""The setup of a training run: plain data shared by engine, window, JSON files and scripts.

A setup can be as small as ``{"data": "sine", "model": "mlp", "steps": 500}``: everything else has
a default. A *part* names an entry of the catalogue and its options, in JSON either ``"adam"`` or
``{"name": "adam", "lr": 0.01}``. A file may add a description: ``{"title": "Two moons", "about":
"What to look for", "setup": {...}}``. Only the engine knows which entries and options exist: see
`engine.protocol.training.Catalogue`.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol.slips.json_slips import first_slip
from gradscribe.engine.protocol.slips.near_words import MAX_WORD_CHARS, plain
from gradscribe.engine.protocol.slips.near_words import did_you_mean as did_you_mean
from gradscribe.engine.protocol.step_order import MAX_STATEMENTS, RIGHT_ORDER

JsonValue = None | bool | int | float | str | list[object] | dict[str, object]
"""A JSON value, the type of an option."""
Mode = Literal["auto", "reference", "captured"]
OptionHint = Callable[[str, object], str]
"""Hint at the part to which an unknown key belongs, given its value; the catalogue knows it."""

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
"""The mistakes that can be made on purpose, and their effects."""


class SetupError(ValueError):
    """A setup that cannot be run; the message is one line, ``place`` the key at fault."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class Part(Struct, frozen=True):
    """An entry of the catalogue by ``name``, and the options that differ from its defaults."""

    name: str
    options: dict[str, JsonValue] = {}


class Setup(Struct, frozen=True):
    """Everything that determines a run: equal setups give bitwise equal runs on one machine."""

    data: Part = Part("circle")
    model: Part = Part("mlp")
    loss: Part | None = None
    """None: the default for the data."""
    optimizer: Part = Part("adam")
    schedule: Part | None = None
    steps: int = 1000
    """Step at which a headless run ends; a window's run pauses there if a file gives it."""
    batch: int = 0
    """Examples in a batch; 0 is all of the training data, in order."""
    shuffle: bool = True
    drop_last: bool = False
    train: float = 0.8
    """Fraction of the data that is trained on; the rest is for validation."""
    validate_every: int = 50
    """Steps between two validation losses; 0: never."""
    features: tuple[str, ...] = ()
    """Columns made from the inputs: ``x1 x2 x1^2 x2^2 x1*x2 sin(x1) sin(x2)``; empty: inputs."""
    standardize: bool = False
    """Shift and scale inputs, and a regression's targets, by the training data's mean and std."""
    l1: float = 0.0
    """Factor of the sum of the weights' absolute values, which is added to the loss."""
    l2: float = 0.0
    """Factor of half the sum of the weights' squares, which is added to the loss."""
    clip_norm: float = 0.0
    """Largest norm of all gradients together; 0: no clipping."""
    clip_value: float = 0.0
    accumulate: int = 1
    """Batches whose gradients are accumulated for one step."""
    frozen: tuple[str, ...] = ()
    """Parameters, or modules by name prefix, that are not trained."""
    seed: int = 0
    """Seed of weights, data and order, unless they have their own."""
    weight_seed: int | None = None
    data_seed: int | None = None
    device: str = "cpu"
    dtype: str = "float32"
    amp: str = ""
    """Dtype of autocast, ``float16`` or ``bfloat16``; float16 adds a GradScaler."""
    threads: int = 1
    mode: Mode = "auto"
    mistakes: tuple[str, ...] = ()
    order: tuple[str, ...] = RIGHT_ORDER
    """The statements of a step in the order in which they run; each any number of times."""
    manual_update: bool = False
    """Update with ``p -= lr * p.grad`` in place of ``optimizer.step()``."""

    @property
    def deviates(self) -> bool:
        """True if a step is not the usual one, so that it is compared with a right run."""
        return bool(self.mistakes) or self.order != RIGHT_ORDER or self.manual_update

    def corrected(self) -> "Setup":
        """Return the setup with the usual step."""
        return msgspec.structs.replace(self, mistakes=(), order=RIGHT_ORDER, manual_update=False)


_KEYS = {field.name: field for field in msgspec.structs.fields(Setup)}
_MODES = "auto, reference or captured"
_MODE_NAMES = ("auto", "reference", "captured")
_OPTIONS = 'an option belongs to its part, as in "data": {"name": "sine", "noise": 0.2}'
_KINDS: dict[object, str] = {
    int: "a whole number",
    int | None: "a whole number, or null",
    float: "a number",
    bool: "true or false",
    str: "a text",
    Mode: _MODES,
    tuple[str, ...]: "a list of names",
}
MAX_QUOTED_CHARS = MAX_WORD_CHARS
_PARTS = ("data", "model", "loss", "optimizer", "schedule")
_NAME_KEYS = ("type", "kind", "class", "method", "algorithm", "id", "title", "function")
_COMMON = "data, model, loss, optimizer, schedule, steps, batch, train, standardize, l2, seed"
_AROUND = {"title", "about", "setup"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\d[\d.eE+-]*)', re.DOTALL)
"""A JSON string or number."""


def parse(given: object, hint: OptionHint | None = None) -> Setup:
    """Return the setup that a JSON value describes; ``hint`` improves the message of an error.

    Raises:
        SetupError: it is no object, has an unknown key, or a value of the wrong type.
    """
    if not isinstance(given, dict):
        raise SetupError('a setup is an object like {"data": "sine", "model": "mlp"}')
    clean: dict[str, object] = {}
    for key, value in given.items():
        if key not in _KEYS:
            raise SetupError(f"unknown key {quoted(key)}{_meant(str(key), value, hint)}", str(key))
        if key in _PARTS:
            clean[key] = _counted(_part(key, value))
        else:
            clean[key] = _counted(value) if _KEYS[key].type in (int, int | None) else value
    for key, value in clean.items():
        try:
            msgspec.convert({key: value}, Setup)
        except msgspec.ValidationError as error:
            if "enum value" in str(error):
                near = did_you_mean(str(value), _MODE_NAMES)
                message = f"{key} is {quoted(value)}, but must be {_MODES}{near}"
                raise SetupError(message, key) from None
            text = json.dumps(value, ensure_ascii=False)
            short = text if len(text) <= MAX_QUOTED_CHARS else text[:MAX_QUOTED_CHARS] + "…"
            raise SetupError(
                f"{key} is {short}, which is not {_KINDS[_KEYS[key].type]}{written(value)}", key
            ) from None
    setup = msgspec.convert(clean, Setup)
    validate(setup)
    return setup


def _meant(key: str, value: object, hint: OptionHint | None) -> str:
    """Return the place or the name that an unknown key is meant for; else all keys."""
    belongs = hint(key, value) if hint is not None else ""
    if belongs:
        return f": {belongs}"
    near = did_you_mean(key, _KEYS)
    if near or hint is None:
        return near or f": {_OPTIONS}"
    return f"; the keys are {_COMMON} and others"


def written(value: object) -> str:
    """Return how a number or a truth in quotes is written; empty for any other value."""
    word = value.strip() if isinstance(value, str) and len(value) <= MAX_WORD_CHARS else ""
    if word.lower() in ("true", "false"):
        return f"; without quotes, {word.lower()} is"
    try:
        is_number = isinstance(msgspec.json.decode(word), int | float)
    except (msgspec.DecodeError, UnicodeError):
        return ""
    return f"; without quotes, {word} is" if is_number else ""


def parse_text(text: str | bytes, hint: OptionHint | None = None) -> Setup:
    """Return the setup that a JSON text describes; raises `SetupError`."""
    return parse(_decoded(text), hint)


def requested_steps(text: str | bytes) -> int | None:
    """Return the number of steps in a JSON text; None if it is left out.

    Raises:
        SetupError: the text is no setup.
    """
    setup, given = parse_text(text), _decoded(text)
    return setup.steps if isinstance(given, dict) and "steps" in given else None


def _decoded(text: str | bytes) -> object:
    """Return the value of a JSON text, without title and description; raises `SetupError`."""
    try:
        given = msgspec.json.decode(text)
        twice = _given_twice(text)
    except RecursionError:
        raise SetupError(
            "this is not JSON that a setup can be: it lies too deep in itself"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SetupError(f"this is not JSON: {_where(str(error), text)}") from None
    if twice is not None:
        raise SetupError(f"{quoted(twice)} is given twice in one object", twice)
    if isinstance(given, dict) and "setup" in given and given.keys() <= _AROUND:
        return given["setup"]
    return given


def _given_twice(text: str | bytes) -> str | None:
    """Return a duplicate key of an object in a JSON text; decoding would use only the last."""
    found: list[str] = []

    def gather(pairs: list[tuple[str, object]]) -> dict[str, object]:
        unique = dict(pairs)
        if len(unique) < len(pairs):
            keys = [key for key, _ in pairs]
            found.append(next(key for at, key in enumerate(keys) if key in keys[:at]))
        return unique

    words = text.decode() if isinstance(text, bytes) else text
    json.loads(words.removeprefix("\ufeff"), object_pairs_hook=gather, strict=False)
    return found[0] if found else None


def _where(error: str, text: str | bytes) -> str:
    """Return a description of a JSON error, with line and column."""
    words, _, place = error.removeprefix("JSON is malformed: ").partition(" (byte ")
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    decoded = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if not place and (far := _out_of_range(data)) is not None:
        words, before = "a number is out of range", data[:far].decode("utf-8", "replace")
    elif (slip := first_slip(decoded)) is not None:
        words, before = slip[1], decoded[: slip[0]]
    elif place:
        before = data[: int(place.removesuffix(")"))].decode("utf-8", "replace")
    else:
        return words.partition(" - at ")[0]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"{words}, in line {line}, column {column}"


def _out_of_range(data: bytes) -> int | None:
    """Return the offset in a JSON text of a number that is too big or too long to be read."""
    # Latin-1 maps each byte to one character, so offsets stay the same.
    for found in _TOKEN.finditer(data.decode("latin-1")):
        try:
            msgspec.json.decode(found[1] or "0")
        except msgspec.DecodeError as error:
            if str(error).endswith("out of range"):
                return found.start()
    return None


def _counted(value: object, depth: int = 4) -> object:
    """Return a JSON value with 1e3 and 1000.0 converted to 1000: JSON does not distinguish them.

    ``depth`` limits the nesting that is searched; it suffices for an option with rows of numbers.
    """
    match value:
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return int(value)
        case list() if depth:
            return [_counted(item, depth - 1) for item in value]
        case dict() if depth:
            return {key: _counted(item, depth - 1) for key, item in value.items()}
    return value


def _part(key: str, value: object) -> object:
    if value is None and key in ("loss", "schedule"):
        return None
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        keys = [k for k in value if plain(k) in _NAME_KEYS] if isinstance(value, dict) else []
        meant = f'; write "name" for {quoted(keys[0])}' if keys else ""
        raise SetupError(f'{key} is a name or an object with a "name"{meant}', key)
    if set(value) == {"name", "options"} and isinstance(value["options"], dict):
        return value
    return {"name": value["name"], "options": {k: v for k, v in value.items() if k != "name"}}


def to_dict(setup: Setup) -> dict[str, object]:
    """Return the setup as the short JSON object that `parse` reads, without defaults."""
    result: dict[str, object] = {}
    for name in _KEYS:
        value = getattr(setup, name)
        if isinstance(value, Part):
            value = {"name": value.name, **value.options} if value.options else value.name
        if name in ("data", "model") or getattr(setup, name) != getattr(Setup(), name):
            result[name] = list(value) if isinstance(value, tuple) else value
    return result


def quoted(word: object) -> str:
    """Return a value of the setup quoted for a message: on one line, cut to `MAX_QUOTED_CHARS`."""
    text = str(word)
    return repr(text if len(text) <= MAX_QUOTED_CHARS else text[:MAX_QUOTED_CHARS] + "…")


def is_finite(number: float) -> bool:
    """Return whether a number is finite as a float; a huge integer is not."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


_AT_LEAST: dict[str, float] = {
    **dict.fromkeys("steps batch validate_every l1 l2 clip_norm clip_value".split(), 0),
    "accumulate": 1,
    **dict.fromkeys("threads seed weight_seed data_seed".split(), 0),
}
MAX_THREADS = 256
"""OpenMP aborts the process if the system refuses more threads."""
_DTYPES = ("float32", "float64", "bfloat16", "float16")


def validate(setup: Setup) -> None:
    """Refuse values out of range; names of entries and options are checked by the engine.

    Raises:
        SetupError: with the key in ``place``.
    """
    for key, least in _AT_LEAST.items():
        value = getattr(setup, key)
        if isinstance(value, int) and abs(value) >= 2**63:
            raise SetupError(f"{key} is too big", key)
        if value is not None and not (math.isfinite(value) and value >= least):
            raise SetupError(f"{key} is {value}, but must be at least {least:g}", key)
    if setup.threads > MAX_THREADS:
        raise SetupError(
            f"threads is {setup.threads}, but must be at most {MAX_THREADS}", "threads"
        )
    if not 0 < setup.train <= 1:
        raise SetupError(f"train is {setup.train}, but must be above 0 and at most 1", "train")
    if setup.dtype not in _DTYPES:
        raise SetupError(
            f"dtype is {quoted(setup.dtype)}, but must be one of {', '.join(_DTYPES)}"
            f"{did_you_mean(setup.dtype, _DTYPES)}",
            "dtype",
        )
    if setup.amp not in ("", "float16", "bfloat16"):
        raise SetupError(
            f"amp is {quoted(setup.amp)}, but must be float16, bfloat16 or empty"
            f"{did_you_mean(setup.amp, ('float16', 'bfloat16'))}",
            "amp",
        )
    for name in setup.mistakes:
        if name not in MISTAKES:
            raise SetupError(
                f"no mistake called {quoted(name)}{did_you_mean(name, MISTAKES)}", "mistakes"
            )
    _validate_order(setup.order)


def _validate_order(order: tuple[str, ...]) -> None:
    for name in order:
        if name not in RIGHT_ORDER:
            raise SetupError(
                f"order has {quoted(name)}, but its names are {', '.join(RIGHT_ORDER)}"
                f"{did_you_mean(name, RIGHT_ORDER)}",
                "order",
            )
    if not order:
        raise SetupError("order is empty, so that a step would do nothing", "order")
    if len(order) > MAX_STATEMENTS:
        raise SetupError(
            f"order has {len(order)} names, but at most {MAX_STATEMENTS} are run", "order"
        )
