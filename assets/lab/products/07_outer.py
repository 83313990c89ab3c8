# Outer product
a = torch.tensor([1., 2., 3.])
b = torch.tensor([10., 20.])
torch.outer(a, b)
