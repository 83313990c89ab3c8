# split
x = torch.arange(10.).view(2, 5)
x.split([2, 3], dim=1)
