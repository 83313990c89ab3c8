# Two steps
# w is used twice, but h was 0 at first:
# only one share counts.

torch.manual_seed(0)

x = torch.randn(5, 2)
u = torch.randn(2, 3, requires_grad=True)
w = torch.randn(3, 3, requires_grad=True)

h = torch.zeros(3)
for step in range(2):
    h = torch.tanh(x[step] @ u + h @ w)

loss = h.square().sum()
loss.backward()

print(w.grad)
