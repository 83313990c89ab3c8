# The graph is gone
# The first row freed what the second
# needs.

x = param([1.0, 2.0, 3.0])
y = torch.stack([x[0] * x[1], x[2] ** 2])

rows = []
for k in range(2):
    (row,) = torch.autograd.grad(
        y[k], x
    )
    rows.append(row)

print(torch.stack(rows))
