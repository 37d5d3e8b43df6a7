"""What is claimed about speed, each claim with the program that measures it; README.md has the results."""
