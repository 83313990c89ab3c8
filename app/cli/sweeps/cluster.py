"""Dask clusters as executors: one that runs somewhere, or one that is started for a sweep.

Dask is imported here and nowhere else, when ``--scheduler`` is given.
"""

import concurrent.futures
import contextlib
import importlib
import logging
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from gradscribe.app.files.documents import Refused

CONNECT_S = 20
EXTRA = "pip install 'gradscribe[dask]'"
FORMS = "tcp://HOST:8786, local:N, ssh:HOST,HOST, slurm:N, or a scheduler file"
MAX_WORKERS = 1000
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+")


@contextlib.contextmanager
def connect(where: str) -> Iterator[tuple[concurrent.futures.Executor, Callable[[], bool]]]:
    """Open an executor on a cluster; the function returns whether its scheduler can be reached.

    ``where``: an address, a scheduler file, or ``local:4``, ``ssh:host,host``, ``slurm:8``: a
    cluster of that many workers that is started now and ended on leaving.

    Raises:
        Refused: Dask is not installed, or there is no such cluster.
    """
    make = _maker(where)
    try:
        # Without types, by its name: mypy has none of it where it is not installed.
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise Refused(f"--scheduler needs Dask: {EXTRA}") from error
    # Its own words on lost lines come from other threads, in between ours.
    for name in [
        name for name in logging.root.manager.loggerDict if name.startswith("distributed")
    ]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with contextlib.ExitStack() as stack:
        try:
            target = make()
            if not isinstance(target, dict):
                stack.enter_context(target)
                target = {"address": target}
            client = distributed.Client(**target, timeout=CONNECT_S, name="gradscribe")
        except Refused:
            raise
        except Exception as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise Refused(f"there is no Dask cluster at {where}: {reason[:200]}") from error
        stack.callback(_close, client)
        yield client.get_executor(pure=False), lambda: client.status == "running"


def _close(client: Any) -> None:  # noqa: ANN401 - Dask has no types
    with contextlib.suppress(Exception):
        client.close(timeout=2)


def _maker(where: str) -> Callable[[], Any]:
    """Return the function that starts or finds a cluster. Raises `Refused`."""
    kind, _, rest = where.partition(":")
    if _ADDRESS.fullmatch(where):
        return lambda: {"address": where}
    if kind == "local":
        return partial(_local, _count(rest))
    if kind == "slurm":
        return partial(_slurm, _count(rest))
    if kind == "ssh" and rest.strip(","):
        return partial(_ssh, [host.strip() for host in rest.split(",") if host.strip()])
    if Path(where).suffix == ".json":
        if not Path(where).is_file():
            raise Refused(f"there is no scheduler file {where}")
        return lambda: {"scheduler_file": where}
    raise Refused(f"--scheduler is {where!r}, but must be {FORMS}")


def _count(words: str) -> int:
    if not words.isdecimal() or not 1 <= int(words) <= MAX_WORKERS:
        raise Refused(f"{words!r} is no number of workers, from 1 to {MAX_WORKERS:,}")
    return int(words)


def _local(count: int) -> Any:  # noqa: ANN401
    # Without a page to look at, which would need a port.
    return importlib.import_module("distributed").LocalCluster(
        n_workers=count, threads_per_worker=1, dashboard_address=None
    )


def _ssh(hosts: list[str]) -> Any:  # noqa: ANN401
    # The scheduler runs on the first, with a worker next to it.
    return importlib.import_module("distributed").SSHCluster(
        [hosts[0], *hosts], worker_options={"nthreads": 1}
    )


def _slurm(count: int) -> Any:  # noqa: ANN401
    try:
        jobqueue = importlib.import_module("dask_jobqueue")
    except ImportError as error:
        raise Refused("slurm:N needs dask-jobqueue: pip install dask-jobqueue") from error
    # Queue, cores and memory are those of its own configuration, jobqueue.yaml.
    cluster = jobqueue.SLURMCluster()
    cluster.scale(jobs=count)
    return cluster
