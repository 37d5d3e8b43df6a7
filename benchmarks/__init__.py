"""Performance claims, each with the program that measures it. See README.md for the results."""
