"""Moments that a wrong clock wrote into the database, and setting them right."""
