"""Execute a script: time limit, output, imports, clean-up."""
