# Switched off
# Autocast leaves everything float32.

torch.manual_seed(0)
w = torch.randn(4, 4, requires_grad=True)
x = torch.randn(2, 4)

short = torch.bfloat16
with torch.autocast("cpu", short, False):
    y = x @ w
loss = y.float().square().mean()
loss.backward()

print(y.dtype, w.grad.dtype)
