"""The devices of this machine: their names for torch, what they are called, and their memory."""

import platform
from pathlib import Path

import torch

from gradscribe.engine import system
from gradscribe.engine.protocol.messages import DeviceDetails

CPU_INFO = Path("/proc/cpuinfo")


def available() -> tuple[DeviceDetails, ...]:
    """Return the devices on which tensors can be made; the processor is the first."""
    found = [DeviceDetails("cpu", _processor(), _machine_memory())]
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        found.append(
            DeviceDetails(f"cuda:{number}", str(properties.name), int(properties.total_memory))
        )
    if torch.backends.mps.is_available():
        # It shares the memory of the machine.
        found.append(DeviceDetails("mps", "Apple GPU", _machine_memory()))
    return tuple(found)


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
