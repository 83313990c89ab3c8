"""Serialize module attributes to nested lists of numbers, texts and bytes, and back.

Nothing in them is ever executed, and only the classes named here are ever instantiated.
"""

import math
import random
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import torch
from torch import nn

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.train.arrays import DTYPES, raw_bytes
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.user_module.attributes import (
    GENERATORS,
    MODULE_FIELDS,
    ModuleAttributes,
)

MOST_BYTES = 4 << 20
"""Maximum bytes of the tensors and texts of all attributes together."""
MOST_PARTS = 100_000
LONGEST_TEXT = 10_000
"""Longer texts are written as bytes."""
DEPTH = 60
_DTYPES = {**DTYPES, "complex64": torch.complex64, "complex128": torch.complex128}
_ARRAY_DTYPES = {np.dtype(name) for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")}
_ARRAY_DTYPES |= {np.dtype(name) for name in ("f2", "f4", "f8", "c8", "c16")}
_LISTS: dict[type, str] = {kind: kind.__name__ for kind in (list, tuple, set, frozenset, deque)}
_DICTS: dict[type, str] = {dict: "dict", OrderedDict: "ordered", Counter: "counter"}
_DICTS[defaultdict] = "default"
_FACTORIES = {"int": int, "float": float, "list": list, "dict": dict, "set": set, "str": str}
_KINDS = {name: kind for kind, name in (*_LISTS.items(), *_DICTS.items())}


class _Unsupported(Exception):
    """Raised for a value that cannot be written as lists."""


def program_lists(program: TrainingProgram) -> tuple[list[object], list[str]]:
    """Return `to_lists` of the current attributes of a run's modules."""
    if program.setup.model.name != "own":
        return [], []
    return to_lists(attributes.of_program(program), program.model)


def to_lists(attributes_now: ModuleAttributes, model: nn.Module) -> tuple[list[object], list[str]]:
    """Return the attributes by module, and the names of those too large or of unsupported types.

    Each module is a list of [name, value] pairs, or [name] if the attribute is to stay as the
    module's constructor makes it. Objects that several attributes share are written once.
    """
    lists: list[object] = []
    left = []
    writer = _Writer(attributes_now)
    for (path, module), named in zip(model.named_modules(), attributes_now.modules, strict=False):
        pairs: list[object] = []
        for name, value in named.items():
            if attributes_now.is_view(value):
                pairs.append([name])
                continue
            before = writer.mark()
            try:
                pairs.append([name, writer.write(value, 0)])
            except _Unsupported:
                writer.forget(before)
                pairs.append([name])
                left.append(f"{path or type_name(type(module))}.{name}")
        lists.append(pairs)
    return lists, left


class _Writer:
    def __init__(self, kept: ModuleAttributes) -> None:
        self._kept, self._numbers = kept, dict[int, int]()
        self._open: set[int] = set()
        self._bytes, self._parts = MOST_BYTES, MOST_PARTS

    def mark(self) -> tuple[int, int, int]:
        return len(self._numbers), self._bytes, self._parts

    def forget(self, mark: tuple[int, int, int]) -> None:
        """Undo what was written since ``mark``."""
        self._numbers = dict(list(self._numbers.items())[: mark[0]])
        self._open.clear()
        _, self._bytes, self._parts = mark

    def write(self, value: object, depth: int) -> object:
        """Return a value as lists. Raises `_Unsupported`."""
        self._take(1, 0)
        kind = type(value)
        plain = self._plain(value)
        if plain is not None or value is None:
            return plain
        if id(value) in self._numbers:
            return ["same", self._numbers[id(value)]]
        if depth > DEPTH or id(value) in self._open:
            raise _Unsupported
        self._open.add(id(value))
        lists = self._object(value, kind, depth)
        self._open.discard(id(value))
        # Numbered on completion, in the order in which `_Reader` completes them.
        self._numbers[id(value)] = len(self._numbers)
        return lists

    def _plain(self, value: object) -> object:
        """Return a number or a text in its written form, None for anything else."""
        # Exact types only: members of an `IntEnum` are ints as well.
        is_plain = type(value) in (bool, int, float, complex, str, bytes)
        match value:
            case bool() | float() if is_plain:
                return value
            case int() if is_plain:
                return value if abs(value) < 1 << 63 else ["int", self._hex(value)]
            case str() if is_plain:
                data = self._raw(value.encode("utf-8", "surrogatepass"))
                is_short = len(data) <= LONGEST_TEXT and value.isprintable()
                return value if is_short else ["text", data]
            case bytes() if is_plain:
                return ["bytes", self._raw(value)]
            case complex() if is_plain:
                return ["complex", value.real, value.imag]
            case np.generic() if value.dtype in _ARRAY_DTYPES:
                return ["number", value.dtype.str, value.tobytes()]
        return None

    def _object(self, value: object, kind: type, depth: int) -> object:
        if kind not in (*_LISTS, *_DICTS, *GENERATORS, torch.Tensor, np.ndarray):
            raise _Unsupported
        content = self._kept.content_of(value)
        if kind is torch.Tensor:
            return self._tensor(content)
        if kind is np.ndarray:
            if content.dtype not in _ARRAY_DTYPES:
                raise _Unsupported
            return ["array", content.dtype.str, list(content.shape), self._raw(content.tobytes())]
        if kind in GENERATORS:
            return self._generator(value, content)
        if kind in _LISTS:
            parts = [self.write(part, depth + 1) for part in content]
            more = [value.maxlen] if isinstance(value, deque) else []
            return [_LISTS[kind], parts, *more]
        pairs = [[self.write(k, depth + 1), self.write(v, depth + 1)] for k, v in content.items()]
        if not isinstance(value, defaultdict):
            return [_DICTS[kind], pairs]
        made = value.default_factory
        name = "" if made is None else made.__name__ if made in _FACTORIES.values() else None
        if name is None:
            raise _Unsupported
        return ["default", pairs, name]

    def _tensor(self, tensor: torch.Tensor) -> object:
        name = str(tensor.dtype).removeprefix("torch.")
        usual = tensor.layout == torch.strided and not tensor.is_meta
        if name not in _DTYPES or not usual or tensor.is_conj() or tensor.is_neg():
            raise _Unsupported
        self._take(0, tensor.nbytes)
        moved = tensor.device.type != "cpu"
        return ["tensor", name, list(tensor.shape), raw_bytes(tensor), moved]

    def _generator(self, value: object, content: Any) -> object:  # noqa: ANN401 - of three kinds
        match value:
            case torch.Generator() if value.device.type == "cpu":
                return ["torch", self._raw(content.numpy().tobytes())]
            case np.random.Generator() if type(value.bit_generator) is np.random.PCG64:
                state = content["state"]
                more = [int(content["has_uint32"]), int(content["uinteger"])]
                return ["numpy", hex(state["state"]), hex(state["inc"]), *more]
            case random.Random():
                version, words, gauss = content
                return ["random", version, list(words), gauss]
        raise _Unsupported

    def _hex(self, value: int) -> str:
        self._take(0, value.bit_length() // 4)
        if value.bit_length() > LONGEST_TEXT:
            raise _Unsupported
        return hex(value)

    def _raw(self, data: bytes) -> bytes:
        self._take(0, len(data))
        return data

    def _take(self, parts: int, size: int) -> None:
        self._parts, self._bytes = self._parts - parts, self._bytes - size
        if min(self._parts, self._bytes) < 0:
            raise _Unsupported


def from_lists(lists: list[object], device: str) -> ModuleAttributes:
    """Return the attributes from the lists of `to_lists`; tensors not on the CPU go to ``device``.

    Raises ValueError, KeyError, TypeError, RuntimeError or OverflowError for invalid lists.
    """
    reader, attributes_read = _Reader(device), ModuleAttributes()
    for pairs in lists:
        named, stay = {}, set()
        if not isinstance(pairs, list):
            raise TypeError("no attributes of a module")
        for name, *value in pairs:
            if not isinstance(name, str) or name in MODULE_FIELDS or hasattr(nn.Module, name):
                raise ValueError("no name of an attribute")
            if value:
                (only,) = value
                named[name] = reader.read(only)
            else:
                stay.add(name)
        attributes_read.add(named, stay)
    return attributes_read


class _Reader:
    def __init__(self, device: str) -> None:
        self._device = device
        self._objects: list[object] = []
        self._depth = 0

    def read(self, value: object) -> Any:  # noqa: ANN401 - whatever was written
        """Return the value that was written as these lists."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        match value:
            case ["same", int(number)] if number >= 0:
                return self._objects[number]
            case ["int", str(text)]:
                return int(text, 16)
            case ["bytes", bytes(data)]:
                return data
            case ["text", bytes(data)]:
                return data.decode("utf-8", "surrogatepass")
            case ["complex", int() | float() as real, int() | float() as imaginary]:
                return complex(real, imaginary)
            case ["number", str(name), bytes(data)]:
                return np.frombuffer(data, _array_type(name)).reshape(())[()]
            # The writer stops at that depth; a limit of the interpreter's would depend on programs.
            case [str(), *_] if isinstance(value, list) and self._depth <= DEPTH:
                self._depth += 1
                result = self._object(value)
                self._depth -= 1
                self._objects.append(result)
                return result
        raise ValueError("no value that was written")

    def _object(self, value: list[Any]) -> object:
        match value:
            case ["tensor", str(name), list(shape), bytes(data), bool(moved)]:
                result = _tensor(_DTYPES[name], _shape(shape), data)
                return result.to(self._device) if moved else result
            case ["array", str(name), list(shape), bytes(data)]:
                return np.frombuffer(data, _array_type(name)).reshape(_shape(shape)).copy()
            case ["deque", list(parts), None | int() as most]:
                return deque((self.read(part) for part in parts), most)
            case ["list" | "tuple" | "set" | "frozenset" as name, list(parts)]:
                return _KINDS[name](self.read(part) for part in parts)
            case ["dict" | "ordered" | "counter" as name, list(pairs)]:
                result = _KINDS[name]()
                return self._pairs(result, pairs)
            case ["default", list(pairs), str(name)]:
                return self._pairs(defaultdict(_FACTORIES[name] if name else None), pairs)
        return _generator(value)

    def _pairs(self, mapping: dict[object, object], pairs: list[Any]) -> object:
        for key, value in pairs:
            mapping[self.read(key)] = self.read(value)
        return mapping


def _generator(value: list[Any]) -> object:
    match value:
        case ["torch", bytes(data)]:
            generator: Any = torch.Generator()
            generator.set_state(_tensor(torch.uint8, [len(data)], data))
        case ["random", int(version), list(words), None | float() as gauss]:
            generator = random.Random()
            generator.setstate((version, tuple(words), gauss))
        case ["numpy", str(state), str(inc), int(has), int(word)]:
            bits = np.random.PCG64()
            numbers = {"state": int(state, 16), "inc": int(inc, 16)}
            whole: Any = {"bit_generator": "PCG64", "state": numbers}
            bits.state = whole | {"has_uint32": has, "uinteger": word}
            generator = np.random.Generator(bits)
        case _:
            raise ValueError("no value that was written")
    return generator


def _shape(shape: list[Any]) -> list[int]:
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("no shape")
    return shape


def _array_type(name: str) -> np.dtype[Any]:
    dtype = np.dtype(name) if len(name) <= 4 else None
    if dtype not in _ARRAY_DTYPES:
        raise ValueError("no numbers")
    return dtype


def _tensor(dtype: torch.dtype, shape: list[int], data: bytes) -> torch.Tensor:
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError("a tensor with other numbers than its shape has")
    if not data:
        return torch.zeros(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype).reshape(shape)
