"""Parts of the window that are not specific to one document: popups, bars, themes."""
