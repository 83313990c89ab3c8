# Add a bias to each row
x = torch.arange(8.).view(4, 2)
bias = torch.tensor([100., 200.])
x + bias
