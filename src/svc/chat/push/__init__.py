"""Notifies members' devices through Web Push while none of their clients is visible (RFC 8030, 8291,
8292).
"""
