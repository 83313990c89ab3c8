"""The doctor: detection of mistakes on a tape, each with its line, evidence and a fix.

Pure functions of a tape and its source, without torch. There is one file per finding.
"""
