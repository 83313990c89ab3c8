# At the kink
# 0 is not above 0, so it counts to the
# leak.

class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        leak = 0.1 * x
        return torch.where(x > 0, x, leak)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        leak = 0.1 * g
        return torch.where(x > 0, g, leak)


x = param([-2.0, 0.0, 1.0, 2.0])
loss = Leaky.apply(x).sum()
loss.backward()

print(x.grad)
