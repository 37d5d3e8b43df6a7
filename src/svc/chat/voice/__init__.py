"""Voice rooms: who is in which, how to get in, and the link to the media service."""
