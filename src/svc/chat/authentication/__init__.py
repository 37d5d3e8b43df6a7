"""Handles joining and signing in."""
