"""Installation: PyTorch for programs, an entry in the desktop's menu."""
