"""Members made to go, or to be silent, and what members report."""
