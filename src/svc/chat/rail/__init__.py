"""Unread counts of one member for the rail of another server's page, by a token that permits nothing else."""
