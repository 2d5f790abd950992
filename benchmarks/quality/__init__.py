"""Quality of labels and imputed values outside the paper's experiments."""
