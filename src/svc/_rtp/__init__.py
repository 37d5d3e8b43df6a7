"""Implements the media core. Its inputs are bytes, addresses and the time, and its outputs are datagrams and
events.

Independent of rooms, members and asyncio. Only `udploop` has sockets and threads.
"""
