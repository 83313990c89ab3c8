"""Ten programs as tutorials of DDP, FSDP2 and torch.distributed have them, for two or four ranks.

Each prints its losses and the gradients of this rank to the bit. They run one after the other in
one process group: a start of the ranks costs more than all of them.
"""

import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, optim
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def show(name, *tensors):
    """Print tensors of this rank to the bit."""
    for t in tensors:
        if hasattr(t, "to_local"):
            t = t.to_local()
        sys.stdout.write(f"{name} {t.detach().numpy().tobytes().hex()}\n")


def mlp():
    """Return a network whose parameters are the same on each rank."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def batch(rank, step=0):
    """Return examples that each rank has of its own."""
    torch.manual_seed(100 * step + rank + 1)
    return torch.randn(5, 3), torch.randn(5, 1)


def train(name, model, optimizer, rank, steps=2):
    """Train for some steps and print the gradients of each."""
    for step in range(steps):
        x, y = batch(rank, step)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        show(name, loss, *(p.grad for p in model.parameters()))
        optimizer.step()


def ddp(rank):
    """Run the first example of the DDP tutorial."""
    model = DDP(mlp())
    train("ddp", model, optim.SGD(model.parameters(), lr=0.1), rank)


def sampler(rank):
    """Train with a DistributedSampler, shuffled anew in each epoch."""
    torch.manual_seed(7)
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    parts = DistributedSampler(data, seed=3)
    loader = DataLoader(data, batch_size=3, sampler=parts)
    model = DDP(mlp())
    optimizer = optim.Adam(model.parameters())
    for epoch in range(2):
        parts.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            show("sampler", loss, model.module[0].weight.grad)


def no_sync(rank):
    """Accumulate gradients over two batches and reduce them once."""
    model = DDP(mlp())
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with model.no_sync():
        x, y = batch(rank, 0)
        (F.mse_loss(model(x), y) / 2).backward()
    show("no_sync", model.module[0].weight.grad)
    x, y = batch(rank, 1)
    (F.mse_loss(model(x), y) / 2).backward()
    show("no_sync", *(p.grad for p in model.parameters()))
    optimizer.step()


def buckets(rank):
    """Reduce in several buckets, of which gradients are views."""
    torch.manual_seed(0)
    layers = [nn.Linear(16, 16) for _ in range(4)]
    model = DDP(nn.Sequential(*layers), bucket_cap_mb=0.002, gradient_as_bucket_view=True)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for step in range(2):
        torch.manual_seed(10 * step + rank)
        optimizer.zero_grad()
        model(torch.randn(4, 16)).square().mean().backward()
        show("buckets", *(p.grad for p in model.parameters()))
        optimizer.step()


class Branches(nn.Module):
    """A module of which each rank uses another part."""

    def __init__(self):
        super().__init__()
        self.even, self.odd = nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, x, rank):
        return self.odd(x) if rank % 2 else self.even(x)


def unused(rank):
    """Let DDP look for parameters that a rank does not use."""
    torch.manual_seed(0)
    model = DDP(Branches(), find_unused_parameters=True)
    x, y = batch(rank)
    F.mse_loss(model(x, rank), y).backward()
    show("unused", *(p.grad for p in model.parameters()))


def average(rank):
    """Average gradients by hand, as in "Writing distributed applications"."""
    model = mlp()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    world = float(dist.get_world_size())
    for step in range(2):
        x, y = batch(rank, step)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
            p.grad /= world
        show("average", loss, *(p.grad for p in model.parameters()))
        optimizer.step()


def collectives(rank):
    """Call each collective once, some of them without waiting."""
    world = dist.get_world_size()
    t = torch.full((2,), float(rank + 1))
    dist.broadcast(t, 0)
    part = torch.tensor([rank + 1.0])
    total = part.clone()
    dist.reduce(total, 0, op=dist.ReduceOp.MAX)
    gathered = [torch.zeros(1) for _ in range(world)] if rank == 0 else None
    dist.gather(part, gathered, 0)
    mine = torch.zeros(1)
    dist.scatter(mine, gathered if rank == 0 else None, 0)
    every = torch.zeros(world)
    dist.all_gather_into_tensor(every, part)
    piece = torch.zeros(1)
    dist.reduce_scatter_tensor(piece, torch.arange(float(world)) * (rank + 1))
    swapped = torch.zeros(world)
    dist.all_to_all_single(swapped, torch.arange(float(world)) + 10 * rank)
    work = dist.all_reduce(part, async_op=True)
    work.wait()
    dist.barrier()
    names = [None] * world
    dist.all_gather_object(names, {"rank": rank})
    show("collectives", t, total, mine, every, piece, swapped, part)
    sys.stdout.write(f"collectives {names}\n")


def ring(rank):
    """Pass a tensor around with isend and irecv."""
    world = dist.get_world_size()
    sent, got = torch.tensor([float(rank)]), torch.zeros(1)
    for _ in range(world - 1):
        ops = [
            dist.P2POp(dist.isend, sent, (rank + 1) % world),
            dist.P2POp(dist.irecv, got, (rank - 1) % world),
        ]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        sent = got.clone()
    show("ring", got)


def stages(rank):
    """Run two stages of a model on neighbouring ranks, with the gradient sent back."""
    torch.manual_seed(0)
    first, second = nn.Linear(3, 4), nn.Linear(4, 1)
    x, y = batch(0)
    if rank % 2 == 0:
        hidden = first(x)
        dist.send(hidden.detach(), rank + 1)
        grad = torch.zeros_like(hidden)
        dist.recv(grad, rank + 1)
        hidden.backward(grad)
        show("stages", first.weight.grad)
    else:
        hidden = torch.zeros(5, 4)
        dist.recv(hidden, rank - 1)
        hidden.requires_grad_()
        loss = F.mse_loss(second(hidden), y)
        loss.backward()
        dist.send(hidden.grad, rank - 1)
        show("stages", loss, second.weight.grad)


def fsdp(rank):
    """Shard each layer and the whole, as in the FSDP2 tutorial."""
    model = mlp()
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    for step in range(2):
        x, y = batch(rank, step)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        show("fsdp", loss, *(p.grad for p in model.parameters()))
        optimizer.step()


PROGRAMS = (ddp, sampler, no_sync, buckets, unused, average, collectives, ring, stages, fsdp)

if __name__ == "__main__":
    dist.init_process_group("gloo")
    names = sys.argv[1:]
    for program in PROGRAMS:
        if not names or program.__name__ in names:
            program(dist.get_rank())
    dist.destroy_process_group()
