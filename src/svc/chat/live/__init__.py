"""Implements the live socket, the WebSocket that carries each client's requests, replies and events."""
