"""What programs import as Matplotlib: it notes what they plot."""
