"""The training page: its widgets and how the session reaches them."""
