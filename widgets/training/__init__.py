"""Widgets that set up and control training runs; the plots are in `widgets.plots`."""
