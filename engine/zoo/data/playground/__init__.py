"""Data sets of TensorFlow Playground."""
