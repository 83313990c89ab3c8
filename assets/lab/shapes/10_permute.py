# permute
x = torch.arange(24.).view(2, 3, 4)
x.permute(2, 0, 1)
