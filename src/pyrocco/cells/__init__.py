"""What the values of a matrix are, and how they are prepared."""
