"""A client for programs: bots that read and write on a server, from a Python program of their own.

`docs/bots.md` shows how. Of the server's libraries it needs aiohttp alone. What it asks of a server is
described in `/openapi.json` and `/asyncapi.json`.
"""

from svc.client.bot import Bot
from svc.client.requests import Refused, Unreachable
from svc.client.shapes import Attachment, Author, Channel, Member, Message, Reaction, VoiceMember

__all__ = [
    "Attachment",
    "Author",
    "Bot",
    "Channel",
    "Member",
    "Message",
    "Reaction",
    "Refused",
    "Unreachable",
    "VoiceMember",
]
