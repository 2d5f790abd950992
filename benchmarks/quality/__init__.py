"""How good labels and filled cells are, away from the paper's experiments."""
