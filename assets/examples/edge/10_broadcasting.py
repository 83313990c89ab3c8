# A column of one
# A single number meets the row, and gets
# the sum over all of it.

column = param([[2.0]])
row = param([10.0, 20.0])

table = column * row
loss = table.sum()
loss.backward()

print(table.shape)
print(column.grad)
print(row.grad)
