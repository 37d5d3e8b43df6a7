"""Unread counts of one member for the server rail of another server's page, protected by a token that permits
nothing else.
"""
