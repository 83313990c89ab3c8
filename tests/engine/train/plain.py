"""A loop of plain PyTorch, to compare runs of modules of one's own with."""

import torch
from torch import nn


def plain_losses(source, batches, steps):
    """The losses of a new ``Net`` of such a source, with Adam, on batches that are drawn here."""
    names = {"nn": nn, "torch": torch}
    torch.manual_seed(0)
    exec(source, names)
    model = names["Net"]()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    losses = []
    for _ in range(steps):
        x, y = batches.draw()
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
