"""The tour of a minute: callouts on the live window, each at the control that it speaks of."""
