# einsum
q = torch.arange(6.).view(2, 3)
k = torch.arange(12.).view(4, 3)
torch.einsum("id,jd->ij", q, k)
