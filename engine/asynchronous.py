"""Devices that compute beside the program: what fails there is told late, and ends their use.

A CUDA kernel runs after the call that asked for it has returned, so that its failure is told by
whatever call waits for the device next. After one that went out of its bounds nothing on the device
can be read any more by this process. Source: PyTorch's notes, CUDA semantics, "Asynchronous
execution".
"""

import torch

CHECKING = frozenset(
    (
        "getitem setitem index_add index_add_ index_copy index_copy_ index_fill index_fill_ "
        "index_put index_put_ index_reduce index_reduce_ index_select gather scatter scatter_ "
        "scatter_add scatter_add_ scatter_reduce scatter_reduce_ take take_along_dim put put_ "
        "embedding embedding_bag one_hot cross_entropy nll_loss binary_cross_entropy "
        "multi_margin_loss multilabel_margin_loss multinomial bernoulli bernoulli_ _assert_async"
    ).split()
)
"""Ops whose kernels look on the device whether what they are given is in its bounds."""


def wait_for(t: torch.Tensor) -> None:
    """Wait until the device of ``t`` has done what it was asked, so that its failure is told here.

    Raises:
        RuntimeError: what failed; `torch.AcceleratorError` since torch 2.8.
    """
    if t.is_cuda and not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize(t.device)


def lost() -> str:
    """Return how the device failed if nothing on it can be read any more; empty where it works."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return ""
    try:
        for index in range(torch.cuda.device_count()):
            # Waiting for a device that was never used would take memory on it.
            if torch.cuda.memory_reserved(index):
                torch.cuda.synchronize(index)
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


def give_back() -> None:
    """Give the device's memory that nothing uses to other processes, such as the training's."""
    if torch.cuda.is_initialized() and not lost():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def mend() -> None:
    """Put back what a program set for the devices themselves."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return
    try:
        for index in range(torch.cuda.device_count()):
            torch.cuda.set_per_process_memory_fraction(1.0, index)
        torch.cuda.set_device(0)
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.cuda.set_sync_debug_mode("default")
    except RuntimeError:
        # It is lost: a fresh engine follows.
        return
