"""Members' decisions about themselves: leaving, exporting or deleting their data, and blocking other members.
"""
