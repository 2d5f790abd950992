"""The stages of one fit, from a validated matrix to a result."""
