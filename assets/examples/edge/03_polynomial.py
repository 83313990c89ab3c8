# The kink of y = |x| + 1
# The slopes beside it are -1 and 1;
# torch takes 0 between them.

x = param(0.0)

y = x.abs() + 1

y.backward()
