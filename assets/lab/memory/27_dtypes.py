# Two dtypes meet
whole = torch.tensor([1, 2, 3])
half = torch.tensor([0.5, 0.25, 0.125], dtype=torch.float16)
whole + half
