"""Serves a member's unread counts to another server's web client, which shows them in its list of servers.

The client needs a token that permits nothing else.
"""
