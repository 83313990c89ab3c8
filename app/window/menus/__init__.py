"""The menus of the main window, and what is in each context menu."""
