"""Joining and signing in."""
