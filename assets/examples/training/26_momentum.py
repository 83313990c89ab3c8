# An optimizer by hand
# Momentum keeps a part of the step
# before.
# tags: optimizer, momentum, sgd, loop
# tags: no_grad

w = param([3.0, -2.0])
scale = tensor([1.0, 10.0])
speed = torch.zeros(2)

for step in range(15):
    loss = (scale * w.square()).sum()
    loss.backward()
    with torch.no_grad():
        speed = 0.8 * speed
        speed = speed - 0.03 * w.grad
        w += speed
    w.grad = None
    print(f"{step}: {loss.item():.3f}")
