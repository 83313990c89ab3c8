# A number in between
# item() cuts the path through z:
# x keeps one share, y gets none.

x = param(2.0)
y = param(3.0)

z = x * y
w = z.item() + x
loss = w**2

loss.backward()
print(y.grad)
