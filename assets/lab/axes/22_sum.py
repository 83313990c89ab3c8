# sum over an axis
x = torch.arange(12.).view(3, 4)
x.sum(dim=1)
