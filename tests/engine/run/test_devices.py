"""The devices of the machine are those of torch, with name and memory (row 6)."""

import os
import sys

import pytest
import torch

from gradscribe.engine.run import devices


def test_the_processor_comes_first_with_the_memory_that_there_is():
    first = devices.available()[0]
    assert first.name == "cpu"
    if sys.platform == "linux":
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert 0 < first.memory <= machine
        assert first.title


def test_every_device_takes_a_tensor():
    for one in devices.available():
        assert torch.zeros(1, device=one.name).device == torch.device(one.name)


def test_graphics_processors_have_the_name_and_memory_that_torch_reports(monkeypatch):
    class Properties:
        name = "NVIDIA H100 80GB HBM3"
        total_memory = 85_000_000_000

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _number: Properties())
    found = devices.available()
    assert [(one.name, one.title, one.memory) for one in found[1:3]] == [
        ("cuda:0", "NVIDIA H100 80GB HBM3", 85_000_000_000),
        ("cuda:1", "NVIDIA H100 80GB HBM3", 85_000_000_000),
    ]


def test_free_memory_is_part_of_what_there_is():
    first = devices.available()[0]
    assert 0 <= first.free <= first.memory
    if sys.platform == "linux":
        assert first.free


class Library:
    """As much of NVIDIA's library as knows one GPU with 60 GB free."""

    nvmlInit_v2 = nvmlShutdown = staticmethod(lambda: 0)

    @staticmethod
    def nvmlDeviceGetHandleByUUID(name, _handle):
        return 0 if name == b"GPU-1234" else 6

    @staticmethod
    def nvmlDeviceGetMemoryInfo(_handle, info):
        info._obj.free = 60_000_000_000
        return 0


def test_the_driver_says_what_is_free_on_a_gpu(monkeypatch):
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda _name: Library)
    assert devices.free_memory("1234") == devices.free_memory("GPU-1234") == 60_000_000_000
    assert devices.free_memory("other") == devices.free_memory("") == 0


def test_without_the_driver_nothing_is_said(monkeypatch):
    monkeypatch.setattr(devices, "NVML", "no-such-library.so")
    assert devices.free_memory("1234") == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_gpu_has_as_much_free_as_torch_says():
    found = devices.available()[1]
    free, total = torch.cuda.mem_get_info(0)
    # The context that torch makes to say it takes some of it.
    assert free <= found.free <= total


@pytest.mark.parametrize("text", ["", "processor : 0\nflags : fpu\n"])
def test_a_system_that_does_not_say_it_leaves_the_rest_empty(monkeypatch, tmp_path, text):
    path = tmp_path / "cpuinfo"
    path.write_text(text)
    monkeypatch.setattr(devices, "CPU_INFO", path)
    monkeypatch.setattr(devices.platform, "processor", lambda: "")

    def refuse():
        raise OSError

    monkeypatch.setattr(devices.system, "machine_memory", refuse)
    first = devices.available()[0]
    assert (first.title, first.memory) == ("", 0)
    monkeypatch.setattr(devices, "CPU_INFO", tmp_path / "none")
    assert devices.available()[0].title == ""
