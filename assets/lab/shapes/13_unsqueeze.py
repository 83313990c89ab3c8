# unsqueeze
x = torch.arange(3.)
x.unsqueeze(0)
