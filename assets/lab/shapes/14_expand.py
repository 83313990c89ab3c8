# expand: stride 0
x = torch.tensor([[1.], [2.], [3.]])
x.expand(3, 4)
