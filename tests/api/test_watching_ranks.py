"""A watched loop on two ranks with DDP: each rank has its file, and no number changes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradscribe.engine.protocol import watch_file

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import torch
from torch import nn

rank, store, watched = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "watched"
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
model = nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
torch.manual_seed(rank + 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
if watched:
    import gradscribe as gs
    watch = gs.watch(model, optimizer, to=sys.argv[4])
for step in range(6):
    optimizer.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    if step == 0:
        print(*(p.grad.norm().item().hex() for p in net.parameters()))
    optimizer.step()
    print(loss.item().hex())
    if watched:
        watch.step(loss)
if watched:
    watch.close()
torch.distributed.destroy_process_group()
"""


def run(folder, kind):
    """Run the program on two ranks; return what each has printed."""
    script, store = folder / "loop.py", folder / f"store-{kind}"
    script.write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".links")}
    started = [
        subprocess.Popen(
            [sys.executable, script, str(rank), store, kind, folder / "loop.watch"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=90)[0].split() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    return printed


def records(path):
    data = path.read_bytes()[len(watch_file.MAGIC) :]
    return watch_file.decode(data)[0]


@pytest.mark.timeout(240)
def test_each_of_two_ranks_is_watched_and_trains_to_the_same_bits(tmp_path):
    plain, watched = run(tmp_path, "plain"), run(tmp_path, "watched")
    assert watched == plain
    assert plain[0][:4] == plain[1][:4], "DDP averages the gradients"
    for rank in range(2):
        header, *rest = records(tmp_path / f"loop.rank{rank}.watch")
        assert (header.rank, header.ranks) == (rank, 2)
        losses = [r for r in rest if isinstance(r, watch_file.WatchLosses)]
        found = np.concatenate([np.frombuffer(r.numbers, "<f8") for r in losses])
        assert [number.hex() for number in found.tolist()] == plain[rank][4:]
        first = next(r for r in rest if isinstance(r, watch_file.WatchSample))
        norms = [float.fromhex(word) for word in plain[rank][:4]]
        np.testing.assert_allclose(np.frombuffer(first.gradients, "<f4"), norms, rtol=1e-6)
