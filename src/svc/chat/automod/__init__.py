"""Moderates automatically: configurable rules flag, censor or reject messages before anybody sees them."""
