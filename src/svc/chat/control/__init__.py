"""The operator's commands to the running server."""
