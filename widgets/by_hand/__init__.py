"""The pane for gradients by hand, and the window for hand-written backward code."""
