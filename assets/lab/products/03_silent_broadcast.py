# A silent broadcast
prediction = torch.tensor([[1.], [2.], [3.]])
target = torch.tensor([1., 2., 3.])
prediction - target
