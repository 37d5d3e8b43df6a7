"""Rules that the owner writes: messages are flagged, censored or refused before anybody sees them."""
