# No momentum
# Each step forgets the one before:
# plain gradient descent.

w = param([3.0, -2.0])
scale = tensor([1.0, 10.0])
speed = torch.zeros(2)

for step in range(15):
    loss = (scale * w.square()).sum()
    loss.backward()
    with torch.no_grad():
        speed = 0.0 * speed
        speed = speed - 0.03 * w.grad
        w += speed
    w.grad = None
    print(f"{step}: {loss.item():.3f}")
