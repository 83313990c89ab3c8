# view and reshape
x = torch.arange(12.)
x.view(3, -1)
