"""The media core: bytes, addresses and the time go in; datagrams and events come out.

Knows nothing about rooms, members or asyncio; only `udploop` has a socket or a thread.
"""
