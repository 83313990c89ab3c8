"""Charts to explore, on pyqtgraph: nothing else imports that library.

A chart is a `Plot` whose canvas is a `ChartView`; it is put together from parts:

- `view.ChartView`: the area. It paints a cached picture (``draw``), the items of pyqtgraph over it
  and what the mouse points at (``draw_over``), and reports wheel, drags, clicks and keys.
- `navigation.Navigation`: both axes in sight. The chart gives it the axes that show everything,
  paints by ``navigation.axes()`` and repaints when ``navigation.changed`` is sent.
- `menu.ChartMenu`: the context menu, pictures and tables. The chart offers ``entries``,
  ``draw_still`` and ``table``.
- `plane.PlaneHands`: all of these for a plot over two axes of numbers, and regions.
- `enlarged.ChartWindow`: a window with a second chart that copies what the first shows.
"""
