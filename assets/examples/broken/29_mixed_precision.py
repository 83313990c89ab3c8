# Mixed by hand
# A product wants both sides in one dtype:
# only autocast converts.

torch.manual_seed(0)
w = torch.randn(4, 4, requires_grad=True)
x = torch.randn(2, 4)

short = torch.bfloat16
y = x.to(short) @ w
loss = y.float().square().mean()
loss.backward()

print(y.dtype, w.grad.dtype)
