"""Executors of trials: engine processes on this machine, or a Dask cluster."""

import concurrent.futures
import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradscribe.app.cli.sweeps import cluster, trial
from gradscribe.app.link import launch
from gradscribe.engine.protocol.setup import Setup

ENGINE_BYTES = 600 << 20
"""Memory to reckon with for an engine that trains a small model."""


def local_workers(setup: Setup, trials: int) -> int:
    """Return the number of engines to train with on this machine.

    Each has ``setup.threads`` threads; those on another device than the CPU share it, so there is
    one of them.
    """
    if setup.device != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    by_cores = (cores or 1) // max(1, setup.threads)
    by_memory = launch.free_memory() // ENGINE_BYTES
    return max(1, min(by_cores, by_memory, trials))


@contextlib.contextmanager
def local(workers: int) -> Iterator[concurrent.futures.Executor]:
    """Run trials in ``workers`` engine processes, each driven by a thread.

    On leaving, trials that have not ended are given up.
    """
    executor = concurrent.futures.ThreadPoolExecutor(workers, "trial")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        trial.close_engines()
        executor.shutdown(wait=True)


@dataclass(frozen=True)
class TrialExecutor:
    """An executor, and a remark on how it is used."""

    executor: concurrent.futures.Executor
    takes_callback: bool
    """True in this process: a callback for progress can be given to a trial."""
    is_alive: Callable[[], bool] = lambda: True
    """Returns False once no more results will come."""


@contextlib.contextmanager
def executor(scheduler: str | None, workers: int) -> Iterator[TrialExecutor]:
    """Open the executor for trials: ``workers`` engines here, or the cluster of ``scheduler``.

    Raises:
        Refused: there is no such cluster, or Dask is not installed.
    """
    if scheduler is None:
        with local(workers) as here:
            yield TrialExecutor(here, takes_callback=True)
        return
    with cluster.connect(scheduler) as (far, is_alive):
        yield TrialExecutor(far, takes_callback=False, is_alive=is_alive)
