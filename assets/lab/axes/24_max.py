# max over an axis
x = torch.tensor([[3., 1., 2.], [5., 9., 4.]])
x.max(dim=1)
