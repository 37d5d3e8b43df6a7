"""A client library for bots: Python programs that read and write on a server.

docs/bots.md explains how to use it. Of the server's dependencies, it needs only aiohttp. `/openapi.json` and
`/asyncapi.json` describe the endpoints and events that it uses.
"""

from svc.client.bot import Bot
from svc.client.models import Attachment, Author, Channel, Member, Message, Reaction, VoiceMember
from svc.client.requests import Refused, Unreachable

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
