"""Members' decisions about themselves: leaving, exporting or deleting data, and blocking other members."""
