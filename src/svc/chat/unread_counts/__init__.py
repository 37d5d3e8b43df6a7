"""Serves a member's unread counts to the server rail of another server's page, for a token that permits
nothing else.
"""
