"""The ways to the media service, ours and members', made of what the operator has set. Decides nothing."""

import random

from aiohttp import ClientSession

from svc.base.backoff import Backoff
from svc.chat.access.directory import Directory
from svc.chat.config import MediaConfig
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.rules import MediaAccess
from svc.chat.voice.sfu_link import Registration, SfuLink

# People in a call notice each second, and the media service is near.
FIRST_RECONNECT_S = 0.2
LAST_RECONNECT_S = 2.0


def media_access(media: MediaConfig) -> MediaAccess:
    # A page tries these in turn; our own address reaches the media service in any case.
    urls = [*(f"{url}/client" for url in media.public_urls), "/sfu/client"]
    return MediaAccess(media.server_id, media.server_password, urls, media.stun_servers)


def link(session: ClientSession, media: MediaConfig, directory: Directory, occupancy: Occupancy) -> SfuLink:
    registration = Registration(media.server_id, media.server_password, directory.voice_channel_ids)
    backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
    return SfuLink(session, f"{media.url}/server", registration, occupancy, backoff)
