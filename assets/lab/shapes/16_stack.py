# stack
a = torch.zeros(3)
b = torch.ones(3)
torch.stack([a, b], dim=1)
