"""Messages: posting, editing, reading and searching, and presence."""
