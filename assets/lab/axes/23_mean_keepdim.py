# mean with keepdim
x = torch.arange(12.).view(3, 4)
x.mean(dim=0, keepdim=True)
