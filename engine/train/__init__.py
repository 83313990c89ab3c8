"""Training of small models: the source text that is displayed is the code that runs."""
