"""Posts, edits, reads and searches messages, and shows who is online."""
