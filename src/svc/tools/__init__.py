"""Commands for operators and developers. They may use every program's modules."""
