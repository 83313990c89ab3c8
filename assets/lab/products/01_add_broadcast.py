# Add, broadcast
a = torch.tensor([[10.], [20.], [30.], [40.]])
b = torch.tensor([1., 2., 3.])
a + b
