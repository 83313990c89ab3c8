"""Asynchronous devices: their errors surface late, and make the device unusable.

A CUDA kernel runs after the call that launched it has returned, so its error is raised by whatever
call synchronizes with the device next. After an out-of-bounds access this process can no longer
read anything on the device. Source: PyTorch's notes, CUDA semantics, "Asynchronous execution".
"""

import torch

BOUNDS_CHECKING_OPS = frozenset(
    (
        "getitem setitem index_add index_add_ index_copy index_copy_ index_fill index_fill_ "
        "index_put index_put_ index_reduce index_reduce_ index_select gather scatter scatter_ "
        "scatter_add scatter_add_ scatter_reduce scatter_reduce_ take take_along_dim put put_ "
        "embedding embedding_bag one_hot cross_entropy nll_loss binary_cross_entropy "
        "multi_margin_loss multilabel_margin_loss multinomial bernoulli bernoulli_ _assert_async"
    ).split()
)
"""Ops whose kernels check on the device whether their inputs are within bounds."""


def synchronize(t: torch.Tensor) -> None:
    """Synchronize with the device of ``t``, so that a pending kernel error is raised here.

    Raises:
        RuntimeError: a kernel failed; `torch.AcceleratorError` since torch 2.8.
    """
    if t.is_cuda and not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize(t.device)


def device_failure() -> str:
    """Return the error of a device that can no longer be read; empty if all devices work."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return ""
    try:
        for index in range(torch.cuda.device_count()):
            # Synchronizing with a device that was never used would allocate memory on it.
            if torch.cuda.memory_reserved(index):
                torch.cuda.synchronize(index)
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


def release_cached_memory() -> None:
    """Release cached device memory to other processes, such as the training engine."""
    if torch.cuda.is_initialized() and not device_failure():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def reset_devices() -> None:
    """Reset the per-device settings that a program may have changed."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return
    try:
        for index in range(torch.cuda.device_count()):
            torch.cuda.set_per_process_memory_fraction(1.0, index)
        torch.cuda.set_device(0)
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.cuda.set_sync_debug_mode("default")
    except RuntimeError:
        # The device has failed: a fresh engine follows.
        return
