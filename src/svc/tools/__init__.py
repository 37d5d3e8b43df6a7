"""Commands for operators and engineers. They may use the modules of every program."""
