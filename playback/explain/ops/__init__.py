"""Rules of ops, in a module per family of ops; each module has RULES."""
