"""Records administrative actions."""
