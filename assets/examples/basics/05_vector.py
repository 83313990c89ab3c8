# A vector and the gradient it is given
# Each element's gradient is weighted
# by the one you give.
# tags: vector, backward

x = param([1.0, 2.0, 3.0])

y = x**2

weights = tensor([1.0, 0.1, 0.01])
y.backward(gradient=weights)
