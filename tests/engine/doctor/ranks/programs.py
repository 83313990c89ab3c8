"""Programs of two ranks with a mistake, by the id of its finding, and programs without one."""

HEAD = """\
import os
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

rank, world_size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
"""
TRAIN = """\
optimizer = optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    torch.manual_seed(10 * step + rank)
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
"""
EPOCHS = """\
model = DDP(nn.Linear(3, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    {epoch}
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
"""
AVERAGE = """\
torch.manual_seed({seed})
model = nn.Linear(3, 1)
{before}
optimizer = optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    torch.manual_seed(10 * step + rank)
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    {loss}
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world_size
    optimizer.step()
"""
BRANCHES = """\
class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.even, self.odd = nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, x):
        return self.odd(x) if rank else self.even(x)

model = DDP(Branches(), find_unused_parameters={looks})
torch.manual_seed(rank)
x, y = torch.randn(4, 3), torch.randn(4, 1)
F.mse_loss(model(x), y).backward()
"""
SICK = {
    "rank-parameters-differ": AVERAGE.format(seed="rank", before="", loss=""),
    "same-data-on-ranks": "loader = DataLoader(data, batch_size=4)\n" + EPOCHS.format(epoch=""),
    "epochs-in-one-order": (
        "loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))\n"
        + EPOCHS.format(epoch="")
    ),
    "unused-parameters-differ": BRANCHES.format(looks=False),
    "gradients-scaled-twice": AVERAGE.format(seed=0, before="", loss="loss = loss / world_size"),
    "batch-norm-not-synchronised": (
        "model = DDP(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))\n" + TRAIN
    ),
    "ddp-module-in-checkpoint": (
        "model = DDP(nn.Linear(3, 1))\n" + TRAIN + "torch.save(model.state_dict(), os.devnull)\n"
    ),
}
"""Without `HEAD`. A rank that waits for ever is in tests/app/link/test_ranks.py."""
MORE_SICK = {
    "gradients-scaled-twice": (
        "model = DDP(nn.Linear(3, 1))\n"
        + TRAIN.replace(
            "    optimizer.step()",
            "    for p in model.parameters():\n        p.grad /= world_size\n    optimizer.step()",
        )
    ),
    "same-data-on-ranks": AVERAGE.format(seed=0, before="", loss="").replace(" + rank", ""),
    "unused-parameters-differ": BRANCHES.format(looks=True),
}
ACCUMULATED = """\
model = DDP(nn.Linear(3, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
for step in range(4):
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    (F.mse_loss(model(x), y) / 2).backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
"""
"""Gradients of two batches are accumulated, and that is as many as there are ranks."""
PARTS = """\
torch.manual_seed(1)
everything = torch.randn(8, 3)
model = DDP(nn.Linear(3, 1))
x = everything[rank::world_size]
model(x).square().mean().backward()
"""
"""Each rank takes its part of a tensor that all of them have."""
STAGES = """\
first, second = nn.Linear(3, 4), nn.Linear(4, 1)
stage = second if rank else first
optimizer = optim.SGD(stage.parameters(), lr=0.1)
if rank == 0:
    hidden = first(torch.ones(2, 3))
    dist.send(hidden.detach(), 1)
    grad = torch.zeros_like(hidden)
    dist.recv(grad, 1)
    hidden.backward(grad)
else:
    hidden = torch.zeros(2, 4, requires_grad=True)
    dist.recv(hidden.data, 0)
    second(hidden).sum().backward()
    dist.send(hidden.grad, 0)
optimizer.step()
"""
"""Two stages of a pipeline, each with a model of its own."""
HEALTHY = (
    "model = DDP(nn.Linear(3, 1))\n" + TRAIN,
    "loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))\n"
    + EPOCHS.format(epoch="loader.sampler.set_epoch(epoch)"),
    AVERAGE.format(seed=0, before="", loss=""),
    AVERAGE.format(
        seed="rank", before="for p in model.parameters():\n    dist.broadcast(p.data, 0)", loss=""
    ),
    "model = DDP(nn.Linear(3, 1))\n"
    + TRAIN
    + "torch.save(model.module.state_dict(), os.devnull)\n",
    ACCUMULATED,
    PARTS,
    STAGES,
    (
        "from torch.distributed.fsdp import fully_shard\n"
        "model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "fully_shard(model)\n" + TRAIN
    ),
)


def all_programs() -> list[str]:
    """Return all programs, in the order in which ranks record them."""
    return [HEAD + text for text in (*SICK.values(), *MORE_SICK.values(), *HEALTHY)]
