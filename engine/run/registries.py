"""Undo what a program registered in libraries, or report that it cannot be undone.

Registrations by libraries that were imported meanwhile stay, since these are imported only once.
See `engine.run.global_state` for settings.
"""

import abc
import asyncio.events
import codecs
import collections.abc
import contextlib
import copyreg
import csv
import functools
import io
import logging
import multiprocessing.context
import numbers
import os
import reprlib
import shutil
import sys
import time
from collections.abc import Callable, Iterable, MutableMapping
from types import ModuleType
from typing import Any

import torch
from torch import _weights_only_unpickler as unpickler
from torch.distributions import constraint_registry as bijections
from torch.utils import _pytree as pytree

_abc: Any = abc
_copyreg: Any = copyreg
_shutil: Any = shutil
_logging: Any = logging
_unpickler: Any = unpickler
_start: Any = multiprocessing.context
IRREVERSIBLE: tuple[tuple[ModuleType, str], ...] = (
    (sys, "addaudithook"),
    (codecs, "register"),
    (codecs, "register_error"),
    (torch.utils, "rename_privateuse1_backend"),
    *(((os, "register_at_fork"),) if hasattr(os, "register_at_fork") else ()),
)
"""Irreversible calls: a program that uses them is the last in its engine."""
_FIELDS: tuple[tuple[object, str], ...] = (
    (asyncio.events, "_event_loop_policy"),
    (_start._default_context, "_actual_context"),
)
_TABLES: tuple[MutableMapping[Any, Any], ...] = (
    vars(reprlib.aRepr),
    _logging._levelToName,
    _logging._nameToLevel,
    pytree.SUPPORTED_NODES,
    pytree.SUPPORTED_SERIALIZED_TYPES,
    pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE,
    bijections.biject_to._registry,
    bijections.transform_to._registry,
)
_WHOLE: tuple[dict[Any, Any], ...] = (
    _shutil._ARCHIVE_FORMATS,
    _shutil._UNPACK_FORMATS,
    _copyreg._extension_registry,
    _copyreg._inverted_registry,
)
"""Tables that imports never extend, so that they can be restored as a whole."""
_LISTS: tuple[list[Any], ...] = (
    sys.meta_path,
    sys.path_hooks,
    torch.serialization._package_registry,
)


class Registries:
    """Registries of libraries as they were before any program."""

    def __init__(self) -> None:
        self._fields = [(owner, name, getattr(owner, name)) for owner, name in _FIELDS]
        self._tables = [(table, dict(table)) for table in _TABLES]
        self._whole = [(table, dict(table)) for table in _WHOLE]
        self._lists = [(registry, list(registry)) for registry in _LISTS]
        self._dialects = set(csv.list_dialects())
        self._safe = set(_unpickler._marked_safe_globals_set)
        self._abcs = {kind: _members(kind) for kind in _abcs()}
        self._token = abc.get_cache_token()
        self._fixed = _irreversible()
        self._called = False
        for module, name in IRREVERSIBLE:
            setattr(module, name, self._noting(getattr(module, name)))

    def restore(self) -> None:
        """Undo what a program registered."""
        for owner, name, value in self._fields:
            if getattr(owner, name) is not value:
                setattr(owner, name, value)
        for table, known in self._tables:
            _restore(table, known)
        for table, known in self._whole:
            if table != known:
                table.clear()
                table.update(known)
        _reset_mimetypes()
        for registry, before in self._lists:
            if registry != before and (added := [item for item in registry if _is_own(item)]):
                registry[:] = [item for item in registry if item not in added]
                sys.path_importer_cache.clear()
        for name in set(csv.list_dialects()) - self._dialects:
            csv.unregister_dialect(name)
        for item in [*_unpickler._marked_safe_globals_set]:
            if item not in self._safe and not _module(item).startswith("torch"):
                _unpickler._marked_safe_globals_set.discard(item)
        loggers = logging.Logger.manager.loggerDict
        for name in [name for name, item in loggers.items() if _is_own(item)]:
            del loggers[name]
        if abc.get_cache_token() != self._token:
            self._unregister()
            self._token = abc.get_cache_token()
        if hasattr(time, "tzset"):
            time.tzset()

    def is_contaminated(self) -> bool:
        """Return whether the program did something irreversible."""
        return self._called or _irreversible() != self._fixed

    def _unregister(self) -> None:
        """Undo registrations of older classes as virtual subclasses of the known ABCs."""
        for kind, known in self._abcs.items():
            added = _members(kind) - known
            if any(item.__module__ in sys.modules and not _is_own(item) for item in added):
                _abc._reset_registry(kind)
                for item in known:
                    kind.register(item)
        for kind in self._abcs:
            _abc._reset_caches(kind)

    def _noting(self, call: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(call)
        def noted(*args: object, **words: object) -> object:
            if sys._getframe(1).f_globals.get("__name__") == "__main__":
                self._called = True
            return call(*args, **words)

        return noted


def _reset_mimetypes() -> None:
    """Reset `mimetypes` if it has been imported."""
    known: Any = sys.modules.get("mimetypes")
    if known is not None:
        known._default_mime_types()
        known.inited, known._db = False, None


def _restore(table: MutableMapping[Any, Any], known: dict[Any, Any]) -> None:
    if len(table) == len(known) and all(table.get(key) is item for key, item in known.items()):
        return
    for key in [key for key in table if key not in known and _is_of_program(key, table[key])]:
        del table[key]
    table.update(known)


def _is_of_program(key: object, what: object) -> bool:
    parts = what if isinstance(what, tuple) else (what,)
    return any(_is_own(item) for item in (key, *parts))


def _is_own(what: object) -> bool:
    """Return whether a function, a class or an instance belongs to the program."""
    return "__main__" in (_module(what), type(what).__module__)


def _module(what: object) -> str:
    return str(getattr(what, "__module__", ""))


def _abcs() -> Iterable[abc.ABCMeta]:
    """Yield the standard library's ABCs, with which classes can be registered."""
    for module in (collections.abc, numbers, io, contextlib, os):
        for member in vars(module).values():
            if isinstance(member, abc.ABCMeta):
                yield member


def _members(kind: type) -> set[type]:
    found = (reference() for reference in _abc._get_dump(kind)[0])
    return {reference for reference in found if reference is not None}


def _irreversible() -> tuple[object, ...]:
    """Return settings that can be changed only once, or in one direction only."""
    niceness = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0
    return niceness, torch.get_num_interop_threads()
