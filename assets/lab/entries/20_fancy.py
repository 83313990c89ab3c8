# A tensor of indices
x = torch.arange(12.).view(4, 3)
rows = torch.tensor([3, 0, 3])
x[rows]
