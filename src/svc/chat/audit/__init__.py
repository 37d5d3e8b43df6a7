"""The log of administrative acts."""
