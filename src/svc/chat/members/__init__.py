"""Manages members and their roles."""
