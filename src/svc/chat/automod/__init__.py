"""Automatic moderation: configurable rules that flag, censor or reject messages before anybody sees them."""
