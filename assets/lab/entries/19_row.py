# One row
x = torch.arange(12.).view(3, 4)
x[1]
