"""What Gradscribe needs or leaves on the system: PyTorch, an entry in the desktop's menu."""
