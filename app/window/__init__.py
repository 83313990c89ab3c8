"""The main window: start-up, menus, shutdown."""
