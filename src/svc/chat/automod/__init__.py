"""Rules without code: messages are flagged, censored or refused before anybody sees them."""
