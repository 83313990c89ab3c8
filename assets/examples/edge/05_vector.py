# Only one element counts
# A gradient of 0 switches
# an element off.

x = param([1.0, 2.0, 3.0])

y = x**2

weights = tensor([0.0, 1.0, 0.0])
y.backward(gradient=weights)
