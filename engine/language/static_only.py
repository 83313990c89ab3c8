"""Restrict jedi to reading: it imports nothing but Python's own compiled modules, and has no cache.

jedi reads source text, but imports a compiled module to see its members, from any folder that the
text names in ``sys.path``. And parso, its parser, unpickles what it finds in a cache folder.
"""

import importlib
import sys
from collections.abc import Sequence

import jedi
import parso.cache
from jedi import settings
from jedi.inference.compiled import access


def restrict() -> None:
    """Restrict jedi for good; the process should do so before it reads the first program."""
    access.load_module = _load_own_module
    settings.auto_import_modules = []
    settings.allow_unsafe_interpreter_executions = False
    # It would search all files of the folder for calls of a function.
    settings.dynamic_params_for_other_modules = False
    parso.cache._load_from_file_system = _nothing
    parso.cache._save_to_file_system = _nothing
    parso.cache._remove_cache_and_update_lock = _nothing


def project(folder: str, packages: Sequence[str] = ()) -> jedi.Project:
    """Return the project of programs in ``folder``, whose modules are read; empty for none.

    ``packages``: the folders of the packages of another Python, read instead of this one's.
    """
    paths = [path for path in sys.path if path and not (packages and "-packages" in path)]
    return jedi.Project(
        folder or sys.prefix,
        sys_path=[*([folder] if folder else []), *packages, *paths],
        smart_sys_path=False,
        load_unsafe_extensions=False,
    )


def _load_own_module(state: object, dotted_name: str, **_: object) -> object:
    """Take the place of jedi's ``load_module``; return None for modules that are not Python's."""
    if dotted_name.split(".")[0] not in sys.stdlib_module_names:
        return None
    try:
        # Not from the argument ``sys_path``, which a program can extend.
        module = importlib.import_module(dotted_name)
    except ImportError:
        return None
    return access.create_access_path(state, module)


def _nothing(*_: object, **__: object) -> None:
    return None
