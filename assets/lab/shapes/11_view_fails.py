# view on a transposed tensor
x = torch.arange(6.).view(2, 3).T
x.view(6)
