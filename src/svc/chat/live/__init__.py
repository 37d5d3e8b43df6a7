"""The live socket: requests with replies, and pushes, on one WebSocket per open page."""
