"""Handles members' own accounts: leaving, exporting or deleting data, and blocking other members."""
