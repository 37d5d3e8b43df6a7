"""Checks access tokens, permissions and request origins."""
