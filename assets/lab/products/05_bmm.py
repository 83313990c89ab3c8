# Batched matrix product
a = torch.arange(12.).view(2, 2, 3)
b = torch.arange(6.).view(2, 3, 1)
torch.bmm(a, b)
