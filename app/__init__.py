"""The window process: it wires engine, playback and widgets together."""
