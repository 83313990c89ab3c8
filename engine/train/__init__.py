"""Train small models: what is run is the text that is shown."""
