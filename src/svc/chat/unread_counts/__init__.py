"""Serves a member's unread counts to another server's page, which shows them in its list of servers.

The page needs a token that permits nothing else.
"""
