# softmax
x = torch.tensor([[1., 2., 3.], [3., 1., 2.]])
torch.softmax(x, dim=1)
