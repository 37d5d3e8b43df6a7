"""Repairs times that a wrong clock wrote into the database."""
