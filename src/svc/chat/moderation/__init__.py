"""Kicks and bans members, puts them in timeout, and handles reports."""
