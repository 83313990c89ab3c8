"""Asynchronous devices: their errors surface late, and make the device unusable.

A CUDA kernel runs after the call that launched it has returned, so its error is raised by whatever
call synchronizes with the device next. After an out-of-bounds access this process can no longer
read anything on the device. Source: PyTorch's notes, CUDA semantics, "Asynchronous execution".
"""

import torch


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
