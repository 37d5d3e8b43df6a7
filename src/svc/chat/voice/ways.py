"""The ways to the media services, ours and members', made of what the operator has set. Decides nothing."""

import random

from aiohttp import ClientSession

from svc.base.backoff import Backoff
from svc.chat.access.directory import Directory
from svc.chat.config import MediaConfig
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.pass_through import passed_through
from svc.chat.voice.rules import MediaAccess
from svc.chat.voice.sfu_link import Registration, SfuLink, Told
from svc.chat.voice.sfu_links import SfuLinks

# People in a call notice each second, and the media service is near.
FIRST_RECONNECT_S = 0.2
LAST_RECONNECT_S = 2.0


def client_urls(media: MediaConfig) -> list[str]:
    """Where each service takes participants, for us who pass them through."""
    return [f"{service.url}/client" for service in media.services]


def media_access(media: MediaConfig) -> MediaAccess:
    # A page tries these in turn; our own address reaches the media service in any case.
    urls = [
        [*(f"{url}/client" for url in service.public_urls), passed_through(at)]
        for at, service in enumerate(media.services)
    ]
    return MediaAccess(media.server_id, media.server_password, urls, media.stun_servers, media.turn)


def link(session: ClientSession, media: MediaConfig, directory: Directory, occupancy: Occupancy) -> SfuLinks:
    registration = Registration(media.server_id, media.server_password, directory.voice_channel_ids)

    def connect(at: int, told: Told) -> SfuLink:
        backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
        return SfuLink(session, f"{media.services[at].url}/server", registration, told, at, backoff)

    return SfuLinks([service.url for service in media.services], connect, occupancy)
