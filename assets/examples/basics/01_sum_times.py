# L = (x + y) * z
# A sum hands its gradient on,
# a product swaps its inputs.
# tags: scalar, chain rule, sum, product

x = param(-2.0)
y = param(5.0)
z = param(-4.0)

q = x + y
L = q * z

L.backward()
