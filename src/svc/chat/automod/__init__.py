"""Automatic moderation: configurable rules flag, censor or refuse messages before anybody sees them."""
