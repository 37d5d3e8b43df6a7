"""Members' decisions about themselves: leaving, exporting or deleting their data, and blocking others."""
