# Linear regression, written out
# w walks to 2 and b to 1,
# one gradient step at a time.
# tags: loop, gradient descent, regression

x = torch.linspace(-1, 1, 20)
target = 2 * x + 1

w = param(0.0)
b = param(0.0)
lr = 0.3

for step in range(20):
    prediction = w * x + b
    error = prediction - target
    loss = (error**2).mean()
    loss.backward()

    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad

    w.grad = None
    b.grad = None
