"""A run as one HTML file, which plays in any browser: `document.to_html`."""
