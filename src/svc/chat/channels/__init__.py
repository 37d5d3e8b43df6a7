"""Manages text and voice channels."""
