"""The training page: its state, and the traffic between widgets and engine."""
