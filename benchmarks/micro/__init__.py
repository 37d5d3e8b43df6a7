"""Single steps of the core, timed (test_micro.py) and counted in instructions (instructions.py)."""
