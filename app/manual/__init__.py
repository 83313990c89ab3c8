"""The manual: its pages, a search in them, and the window that shows them."""
