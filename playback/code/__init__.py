"""The program's text beside the tape: lines, states, differences."""
