# z = x * y, w = z + x, loss = w ** 2
# Two shares arrive at x:
# 48 through z and 16 directly.
# tags: scalar, chain rule, shares

x = param(2.0)
y = param(3.0)

z = x * y
w = z + x
loss = w**2

loss.backward()
