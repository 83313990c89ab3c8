"""Charts to explore, on pyqtgraph: nothing else imports that library."""
