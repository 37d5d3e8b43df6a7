"""How the server is doing, for those who watch over it."""
