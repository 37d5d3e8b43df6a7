"""Accounts that belong to the server and are used by programs."""
