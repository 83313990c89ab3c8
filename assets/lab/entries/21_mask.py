# A boolean mask
x = torch.tensor([[1., -2., 3.], [-4., 5., -6.]])
mask = x > 0
x[mask]
