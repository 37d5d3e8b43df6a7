"""Builds and connects the modules for private conversations. Contains no business logic."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from svc.base.private_files import read_or_create_key
from svc.chat.authentication.devices import Devices
from svc.chat.media.stored_media import Media
from svc.chat.private_conversations.channel_calls import ChannelCalls
from svc.chat.private_conversations.devices import PrivateDevices
from svc.chat.private_conversations.endpoints import File, PrivateEndpoints, Serve
from svc.chat.private_conversations.files import PrivateFiles
from svc.chat.private_conversations.franking import KEY_BYTES
from svc.chat.private_conversations.rules import Blocks, PrivateConversations
from svc.chat.private_conversations.sweep import PrivateSweep
from svc.chat.services import Services

KEY_FILE = "franking-key"


@dataclass(frozen=True, slots=True)
class PrivateDependencies:
    """Functions and objects from other features. `users` returns the participants in a channel's call."""

    devices: Devices
    blocks: Blocks
    media: Media
    serve: Serve
    report: File
    users: Callable[[str], Sequence[str]]


class PrivateFeature:
    """The modules for private conversations.

    `audience` is this server's name in devices' statements. Messages and files are deleted after `days`.
    """

    def __init__(
        self, services: Services, audience: str, data_dir: Path, days: int, dependencies: PrivateDependencies
    ) -> None:
        devices = PrivateDevices(services, dependencies.devices, audience)
        key = read_or_create_key(data_dir / KEY_FILE, KEY_BYTES)
        self.conversations = PrivateConversations(services, devices, dependencies.blocks, key)
        self.calls = ChannelCalls(
            services, self.conversations, devices.require_device, dependencies.users, time.time
        )
        files = PrivateFiles(services, dependencies.media, data_dir, devices, self.conversations, time.time)
        self.sweep = PrivateSweep(
            services.database, dependencies.media, files, data_dir / "backups", days, time.time
        )
        self.endpoints = PrivateEndpoints(
            services.database, devices, self.conversations, files, dependencies.report, dependencies.serve
        )
        # A removed member leaves their conversations.
        services.changes.member_removal.append(self.conversations.forget_member_in)
        services.changes.member_gone.append(self.conversations.forget_member)

    async def load(self) -> None:
        await self.conversations.load()

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.sweep.run, self.calls.run]
