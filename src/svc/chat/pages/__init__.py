"""Serves the web client's files."""
