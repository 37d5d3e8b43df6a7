"""Measures single steps of the RTP core, in time (test_micro.py) and in instructions (instructions.py)."""
