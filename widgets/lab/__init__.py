"""The shape lab: tensors cell by cell, their axes, and the memory they share."""
