"""Serves the files of the web client."""
