"""The engine process: ``python -m gradscribe.engine`` speaks `protocol.frames` on its streams."""

import contextlib
import gc
import os
import platform
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence

from gradscribe.engine import system
from gradscribe.engine.plotting import fonts
from gradscribe.engine.process.server import EngineHandlers, Server, log_error
from gradscribe.engine.protocol import messages
from gradscribe.engine.run.cleanup import Baseline
from gradscribe.engine.sandbox.confine import box, limits


def _import_torch() -> None:
    import torch  # noqa: F401


def _warm() -> EngineHandlers:
    """Import torch and run a first program, so that the user's first program runs at full speed.

    One thread: toy models are slower with more, and results do not depend on the machine's cores.
    """
    import torch

    # `run` notes torch's default number of threads when it is imported.
    from gradscribe.engine.inspect import (
        by_hand,
        check,
        costs,
        gradcheck,
        lab,
        model_file,
        peek,
        region,
    )
    from gradscribe.engine.run import run

    torch.set_num_threads(1)
    run.execute(messages.Run(0, "x = param(1.0)\n(x * x).backward()\nprint(x)"))
    return EngineHandlers(
        run.execute,
        peek.peek,
        check.check,
        gradcheck.gradcheck,
        by_hand.hand_check,
        costs.measure_costs,
        lab.probe,
        region.region,
        model_file.model_file,
        run.tidy_last_program,
    )


def _warm_optimizers() -> None:
    """Trigger the imports of an optimizer's first step, which take as long as torch itself."""
    import torch

    layer = torch.nn.Linear(2, 1)
    with _existing_compiler_cache():
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def _existing_compiler_cache() -> Iterator[None]:
    """Let torch's compiler use a folder that is there, which it would leave behind otherwise."""
    variable = "TORCHINDUCTOR_CACHE_DIR"
    if variable in os.environ:
        yield
        return
    os.environ[variable] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ[variable]


def _ready(is_open: bool) -> messages.Ready:
    import torch

    from gradscribe.engine.run import devices

    details = devices.available()
    names = tuple(one.name for one in details)
    kept = () if is_open else box.available_protections(device=_has_device())
    version = str(torch.__version__)
    python = platform.python_version()
    return messages.Ready(version, python, names, os.getpid(), kept, details)


def _has_device() -> bool:
    import torch

    return torch.cuda.device_count() > 0


def main(words: Sequence[str] = ()) -> None:
    """Run the engine until its standard input closes. Return only if it is closed already.

    With ``--spare`` among ``words`` it warms up at low priority; with ``--alone`` there is no
    window to yield the processor to; with ``--open`` its programs are not confined.
    """
    system.die_with_parent()
    system.start_session()
    system.disable_webbrowser()
    incoming, outgoing = system.claim_pipes()
    if system.is_abandoned(incoming):
        return
    limits.close_inherited(incoming, outgoing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import faulthandler

    faulthandler.enable()
    server = Server(incoming, outgoing)
    try:
        if "--spare" in words:
            system.yield_to_window(system.LOW_PRIORITY)
            system.run_at_low_priority(_import_torch)
        if "--open" not in words:
            fonts.prepare()
        engine = _warm()
        if "--spare" in words:
            system.run_at_low_priority(_warm_optimizers)
        system.cap_memory()
        system.raise_stack_limit()
        server.send(_ready("--open" in words))
        _settle(server, words, (incoming, outgoing))
        server.report_process_ends()
        server.serve(engine._replace(before=Baseline()))
    except BaseException:  # noqa: BLE001 - a program's threads must not keep the process alive
        log_error(_last_words())
        os._exit(1)


def _make_folder_of_torch() -> None:
    """Import the module of torch that makes a temporary folder when it is imported.

    Up to torch 2.10 the first optimizer imports it; a confined process could make no folder.
    """
    with contextlib.suppress(ImportError):
        from torch.distributed.nn.jit import instantiator

        folder = getattr(instantiator, "_TEMP_DIR", None)
        if folder is not None:
            # Nothing else removes it, and a confined program cannot write into it.
            folder.cleanup()


def _last_words() -> str:
    """Return the report of the exception that ends this process."""
    asynchronous = sys.modules.get("gradscribe.engine.run.async_devices")
    failure = asynchronous.lost() if asynchronous is not None else ""
    return f"The device failed: {failure}" if failure else traceback.format_exc()


def _settle(server: Server, words: Sequence[str], wire_ends: tuple[int, int]) -> None:
    """Wait for the first program and confine the process before it runs.

    There is only one thread until then, so the confinement covers all later threads.
    """
    if sys.platform == "win32":
        server.read_in_thread()
        _warm_optimizers()
        return
    threads = limits.threads_in_use()
    folder = server.await_first_request((lambda: None) if "--spare" in words else _warm_optimizers)
    if server.trains and "torch._dynamo" not in sys.modules:
        # Else the first optimizer would import them, at a low priority on a busy machine.
        _warm_optimizers()
    if "--alone" not in words:
        system.yield_to_window(system.BEHIND_WINDOW)

    def confine() -> None:
        if "--open" not in words:
            _make_folder_of_torch()
            box.confine(folder, device=_has_device(), threads=threads)

    if server.trains:
        from gradscribe.engine.train.serve import view_process

        server.view_process = view_process.fork_process(confine, wire_ends)
    confine()
    server.read_in_thread()


if __name__ == "__main__":
    main(sys.argv[1:])
