# squeeze
x = torch.arange(3.).view(3, 1)
x.squeeze(1)
