# One weight on two ranks
# Each rank has data of its own and a gradient of its own;
# DDP gives all of them the mean.

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank = dist.get_rank()

torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

torch.manual_seed(rank)
x = torch.randn(8, 1)
target = 0.5 * x

for _ in range(2):
    optimizer.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()

total = loss.detach().clone()
dist.all_reduce(total)
print(total.item())
dist.destroy_process_group()
