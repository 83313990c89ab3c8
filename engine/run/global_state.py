"""Save global settings of libraries before any program runs, and restore them afterwards.

Context variables (NumPy's printing and errors, decimal's precision) are not handled here: each
program runs in a copy of the context. See `engine.run.cleanup` for the rest.
"""

import calendar
import copyreg
import csv
import decimal
import json
import locale
import logging
import os
import socket
import sys
import threading
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.distributions import Distribution, kl
from torch.nn.modules import module
from torch.optim import optimizer
from torch.utils.data._utils.collate import default_collate_fn_map

from gradscribe.engine.record.backward.saved_hooks import has_saved_hooks
from gradscribe.engine.run import async_devices

DEVICE_TYPES = ("cpu", "cuda")
"""Device types with their own autocast settings."""
_C: Any = torch._C
_exit_level: Callable[[], None] = forward_ad.exit_dual_level
_SWITCHES: tuple[tuple[Callable[[], object], Callable[[Any], object]], ...] = (
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (torch.is_warn_always_enabled, torch.set_warn_always),
    (_C._get_cudnn_deterministic, _C._set_cudnn_deterministic),
    (_C._get_cudnn_benchmark, _C._set_cudnn_benchmark),
    (_C._get_cudnn_enabled, _C._set_cudnn_enabled),
    (_C._get_mkldnn_enabled, _C._set_mkldnn_enabled),
    (
        _C._get_deterministic_fill_uninitialized_memory,
        _C._set_deterministic_fill_uninitialized_memory,
    ),
    (_C._check_sparse_tensor_invariants, _C._set_check_sparse_tensor_invariants),
    (_C._is_multithreading_enabled, _C._set_multithreading_enabled),
    (
        torch.__future__.get_overwrite_module_params_on_conversion,
        torch.__future__.set_overwrite_module_params_on_conversion,
    ),
    (lambda: Distribution._validate_args, Distribution.set_default_validate_args),
    (sys.getswitchinterval, sys.setswitchinterval),
    *(
        # Python 3.10 has it since 3.10.7.
        ((sys.get_int_max_str_digits, sys.set_int_max_str_digits),)
        if hasattr(sys, "set_int_max_str_digits")
        else ()
    ),
    (threading.gettrace, threading.settrace),
    (threading.getprofile, threading.setprofile),
    (lambda: locale.setlocale(locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL)),
    (calendar.firstweekday, calendar.setfirstweekday),
    (csv.field_size_limit, csv.field_size_limit),
    (socket.getdefaulttimeout, socket.setdefaulttimeout),
    (logging.getLoggerClass, logging.setLoggerClass),
    (logging.getLogRecordFactory, logging.setLogRecordFactory),
    (torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled),
    (_C._get_flash_sdp_enabled, _C._set_sdp_use_flash),
    (_C._get_mem_efficient_sdp_enabled, _C._set_sdp_use_mem_efficient),
    (_C._get_math_sdp_enabled, _C._set_sdp_use_math),
    (
        torch.__future__.get_swap_module_params_on_conversion,
        torch.__future__.set_swap_module_params_on_conversion,
    ),
    *(
        (partial(torch.is_autocast_enabled, kind), partial(torch.set_autocast_enabled, kind))
        for kind in DEVICE_TYPES
    ),
    *(
        (partial(torch.get_autocast_dtype, kind), partial(torch.set_autocast_dtype, kind))
        for kind in DEVICE_TYPES
    ),
)
"""Getter and setter of each setting."""


_encoder: Any = getattr(json, "_default_encoder")  # noqa: B009
_TABLES: tuple[Callable[[], dict[Any, Any]], ...] = (
    lambda: copyreg.dispatch_table,
    lambda: _encoder.__dict__,
    lambda: kl._KL_REGISTRY,
    lambda: default_collate_fn_map,
)
"""Library tables that a program may modify."""
_CONTEXTS = (decimal.DefaultContext, decimal.BasicContext, decimal.ExtendedContext)


class GlobalState:
    """Settings, global module hooks and loggers, saved before any program."""

    def __init__(self) -> None:
        self._switches = [(read(), read, write) for read, write in _SWITCHES]
        self._hooks = [
            (owner, name, value.copy() if isinstance(value, dict) else value)
            for owner in (module, optimizer)
            for name, value in vars(owner).items()
            if name.startswith("_global_")
        ]
        self._tables = [(find, dict(find())) for find in _TABLES]
        self._contexts = [context.copy() for context in _CONTEXTS]
        self._modes = _modes()
        self._umask = _umask()
        self._loggers = {name: _logger_state(logger) for name, logger in _loggers().items()}

    def restore(self) -> None:
        """Restore what a program changed."""
        for was, read, write in self._switches:
            if read() != was:
                write(was)
        # It has no getter; setting it costs nothing.
        torch.set_flush_denormal(False)
        for _ in range(torch.autocast_increment_nesting()):
            torch.autocast_decrement_nesting()
        torch.clear_autocast_cache()
        while has_saved_hooks():
            _C._autograd._pop_saved_tensors_default_hooks()
        while forward_ad._current_level >= 0:
            _exit_level()
        for owner, name, value in self._hooks:
            now = getattr(owner, name)
            if isinstance(now, dict) and isinstance(value, dict):
                if now:
                    now.clear()
                    now.update(value)
            elif now is not value:
                setattr(owner, name, value)
        for find, table in self._tables:
            if (now := find()) != table:
                now.clear()
                now.update(table)
                kl._KL_MEMOIZE.clear()
        for context, saved in zip(_CONTEXTS, self._contexts, strict=True):
            for name in ("prec", "rounding", "Emin", "Emax", "capitals", "clamp", "traps"):
                if getattr(context, name) != getattr(saved, name):
                    setattr(context, name, getattr(saved, name))
        if tracemalloc.is_tracing():
            tracemalloc.stop()
        os.umask(self._umask)
        self._restore_loggers()
        async_devices.reset_devices()

    def _restore_loggers(self) -> None:
        logging.disable(logging.NOTSET)
        for name, logger in _loggers().items():
            saved = self._loggers.get(name, _NEW if name else None)
            if saved is not None and _logger_state(logger) != saved:
                logger.handlers[:], logger.filters[:] = saved[0], saved[1]
                logger.propagate, logger.disabled = saved[3], saved[4]
                logger.setLevel(saved[2])

    def is_contaminated(self) -> bool:
        """Return whether something cannot be restored: a torch mode, a failed device."""
        return _modes() != self._modes or bool(async_devices.device_failure())


Logs = tuple[tuple[Any, ...], tuple[Any, ...], int, bool, bool]
"""Handlers, filters, level, `propagate`, `disabled`."""
_NEW: Logs = ((), (), logging.NOTSET, True, False)


def _loggers() -> dict[str, logging.Logger]:
    found = logging.Logger.manager.loggerDict
    named = {name: logger for name, logger in found.items() if isinstance(logger, logging.Logger)}
    return {"": logging.root, **named}


def _logger_state(logger: logging.Logger) -> Logs:
    return (
        tuple(logger.handlers),
        tuple(logger.filters),
        logger.level,
        logger.propagate,
        logger.disabled,
    )


def _modes() -> tuple[int, int]:
    return _C._len_torch_function_stack(), _C._len_torch_dispatch_stack()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
