"""The inspector and its panes."""
