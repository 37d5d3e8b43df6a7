"""Messages: posted, changed, read, found; and who is there to read them."""
