# A row of zeros
# Two factors of 0: no input moves their
# product.

x = param([0.0, 0.0, 3.0])
y = torch.stack([x[0] * x[1], x[2] ** 2])

rows = []
for k in range(2):
    (row,) = torch.autograd.grad(
        y[k], x, retain_graph=True
    )
    rows.append(row)

print(torch.stack(rows))
