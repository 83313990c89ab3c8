"""Gradients computed by hand: questions, hidden gradients, exercises, replies. Without Qt."""
