"""Plain data that both processes speak: tape, messages, frames, training setups."""
