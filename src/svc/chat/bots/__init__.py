"""Manages bot accounts, which belong to the server and are used by programs."""
