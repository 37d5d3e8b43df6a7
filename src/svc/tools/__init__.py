"""Commands for operators and developers. They may import modules from every program."""
