# Two paths that cancel
# With y at -1 the loss is 0
# for any x, so x gets 0.

x = param(2.0)
y = param(-1.0)

z = x * y
w = z + x
loss = w**2

loss.backward()
