# Broadcasting
# Each number of the row gets a sum of
# gradients.
# tags: shapes, broadcast, sum

column = param([[1.0], [2.0], [3.0]])
row = param([10.0, 20.0])

table = column * row
loss = table.sum()
loss.backward()

print(table.shape)
print(column.grad)
print(row.grad)
