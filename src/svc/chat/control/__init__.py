"""Handles the operator's commands to the running server."""
