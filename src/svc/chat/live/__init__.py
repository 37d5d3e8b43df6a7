"""The live socket: requests with replies, and events, on one WebSocket per open page."""
