# Matrix product
a = torch.tensor([[1., 2., 3.], [4., 5., 6.]])
b = torch.tensor([[1., 0.], [0., 1.], [2., 2.]])
a @ b
