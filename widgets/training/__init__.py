"""What one sets a training run up with and drives it by; the pictures are in `widgets.plots`."""
