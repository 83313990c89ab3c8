"""The devices of this machine: their names for torch, what they are called, and their memory."""

import ctypes
import platform
import sys
from pathlib import Path

import torch

from gradscribe.engine import system
from gradscribe.engine.protocol.messages import DeviceDetails

CPU_INFO, MEMORY_INFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
NVML = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
"""The library of NVIDIA's driver that knows the memory of its GPUs."""


def available() -> tuple[DeviceDetails, ...]:
    """Return the devices on which tensors can be made; the processor is the first."""
    found = [DeviceDetails("cpu", _processor(), _machine_memory(), _available_memory())]
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        memory = int(properties.total_memory)
        free = min(free_memory(str(getattr(properties, "uuid", ""))), memory)
        found.append(DeviceDetails(f"cuda:{number}", str(properties.name), memory, free))
    if torch.backends.mps.is_available():
        # It shares the memory of the machine.
        found.append(DeviceDetails("mps", "Apple GPU", _machine_memory()))
    return tuple(found)


class _MemoryInfo(ctypes.Structure):
    """``nvmlMemory_t``."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


def free_memory(uuid: str) -> int:
    """Return the free bytes of an NVIDIA GPU; 0 where its driver does not say them.

    The driver's library says them without a context of CUDA, which takes some 400 MB of the GPU.
    """
    handle, info = ctypes.c_void_p(), _MemoryInfo()
    try:
        library = ctypes.CDLL(NVML)
        if not uuid or library.nvmlInit_v2():
            return 0
        name = f"GPU-{uuid.removeprefix('GPU-')}".encode()
        failed = library.nvmlDeviceGetHandleByUUID(
            name, ctypes.byref(handle)
        ) or library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(info))
        library.nvmlShutdown()
    except (OSError, AttributeError):
        return 0
    return 0 if failed else int(info.free)


def _available_memory() -> int:
    """Return the bytes that programs can have on this machine; 0 where it does not say it."""
    try:
        lines = MEMORY_INFO.read_text().splitlines()
        words = next(line.split() for line in lines if line.startswith("MemAvailable:"))
        return int(words[1]) << 10
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def _processor() -> str:
    """Return the name of the processor; empty where the system does not say it."""
    try:
        lines = CPU_INFO.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor()


def _machine_memory() -> int:
    """Return the bytes of memory of the machine; 0 where the system does not say it."""
    try:
        return system.machine_memory()
    except (AttributeError, OSError, ValueError):
        return 0
