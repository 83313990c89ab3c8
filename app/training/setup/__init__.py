"""The setup being edited: data files, presets, validation."""
