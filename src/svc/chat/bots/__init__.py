"""Bot accounts. They belong to the server and are used by programs."""
