"""The doctor: mistakes found on a tape, each with its line, what was measured, and what mends it.

Pure functions of a tape and its source; torch is not needed. One file per finding.
"""
