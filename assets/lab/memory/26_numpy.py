# numpy shares the memory
array = np.arange(4.0)
x = torch.from_numpy(array)
x.add_(10)
