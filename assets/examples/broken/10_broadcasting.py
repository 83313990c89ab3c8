# Sizes that do not fit
# A row of 3 and a row of 2: neither
# is 1, so nothing is repeated.

column = param([1.0, 2.0, 3.0])
row = param([10.0, 20.0])

table = column * row
loss = table.sum()
loss.backward()

print(table.shape)
print(column.grad)
print(row.grad)
