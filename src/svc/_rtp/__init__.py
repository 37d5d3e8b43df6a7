"""Implements the media core. Its inputs are bytes, addresses and the time, and its outputs are datagrams and
events.

Does not depend on rooms, members or asyncio. Only `udploop` uses sockets and threads.
"""
