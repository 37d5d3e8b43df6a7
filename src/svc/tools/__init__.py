"""The commands of operators and engineers; they may use every program's parts."""
