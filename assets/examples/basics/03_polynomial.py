# y = x ** 2 + 3 * x + 1
# Drag the 2.0 to -1.5
# and the slope becomes 0.
# tags: scalar, derivative

x = param(2.0)

y = x**2 + 3 * x + 1

y.backward()
