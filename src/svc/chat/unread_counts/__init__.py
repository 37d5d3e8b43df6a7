"""Serves a member's unread counts to the server rail of another server's page.

The page needs a token, which permits nothing else.
"""
