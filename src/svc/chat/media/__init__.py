"""Stores media, keeps track of references to it, serves it, and removes it."""
