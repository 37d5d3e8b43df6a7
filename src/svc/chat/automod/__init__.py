"""Automatic moderation: configurable rules that flag, censor or refuse messages before anybody sees them."""
