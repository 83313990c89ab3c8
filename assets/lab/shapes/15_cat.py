# cat
a = torch.zeros(2, 3)
b = torch.ones(1, 3)
torch.cat([a, b], dim=0)
