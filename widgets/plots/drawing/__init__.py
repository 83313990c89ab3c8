"""Parts that plots are drawn from: axes, marks, lines, colours."""
