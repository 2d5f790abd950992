"""What a fitted model answers: other cuts, explanations, predictions, imputed values, files."""
