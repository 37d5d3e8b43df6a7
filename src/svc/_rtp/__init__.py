"""The media core: bytes, addresses and the time go in; datagrams and events come out.

Knows nothing of rooms, members or asyncio; only `udploop` holds a socket or a thread.
"""
