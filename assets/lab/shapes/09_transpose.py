# Transpose: strides change
x = torch.arange(6.).view(2, 3)
x.T
