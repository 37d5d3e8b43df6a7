"""The live socket, which carries requests, replies and events on one WebSocket per open page."""
