"""Performance claims, each with the program that measures it. README.md has the results."""
