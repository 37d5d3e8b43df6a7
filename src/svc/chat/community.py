"""All features of the chat server, built and connected: what a community is made of.

The only file that knows every feature. Has no rules of its own, and serves nothing:
`app` puts HTTP around it. Spec: chat document section 1.
"""

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from aiohttp import ClientSession, web

import svc
from svc.base.config import ConfigError
from svc.base.data_folder import held
from svc.base.database import Database, DatabaseError
from svc.base.ids import Ids
from svc.base.metrics import Registry
from svc.base.migrations import migrations_in
from svc.base.pictures import picture_sandbox
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.access.origins import Origins
from svc.chat.access.tokens import AccessTokens, Asker
from svc.chat.audit.routes import AuditRoutes
from svc.chat.audit.rules import Audit
from svc.chat.backup.commands import BackupCommands
from svc.chat.backup.rules import Backups
from svc.chat.channels.routes import ChannelRoutes
from svc.chat.channels.rules import Channels
from svc.chat.config import ChatConfig
from svc.chat.control.commands import Command, Commands
from svc.chat.fetching.connecting import Guard
from svc.chat.fetching.fetcher import Fetcher
from svc.chat.files import Files, media_of
from svc.chat.invites.commands import InviteCommands
from svc.chat.invites.door import InviteDoor
from svc.chat.invites.guard import InviteGuard
from svc.chat.invites.routes import InviteRoutes
from svc.chat.invites.rules import Invites
from svc.chat.joining.codes import new_code
from svc.chat.joining.devices import Devices
from svc.chat.joining.door import ServerDoor
from svc.chat.joining.invite import invite_code
from svc.chat.joining.issuers import IssuerKeys
from svc.chat.joining.refresh import RefreshTokens
from svc.chat.joining.routes import DeviceRoutes, JoiningRoutes
from svc.chat.joining.rules import Joining
from svc.chat.joining.server_id import kept_server_id
from svc.chat.joining.sessions import Sessions
from svc.chat.joining.trust import Trust
from svc.chat.live.hub import Hub
from svc.chat.live.sign_in import SignIn, Welcome
from svc.chat.live.socket import Handler, LiveSockets
from svc.chat.members.commands import MemberCommands
from svc.chat.members.roles import Roles
from svc.chat.members.routes import MemberRoutes
from svc.chat.members.rules import Members
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.profanity import moderated
from svc.chat.messages.routes import MessageRoutes
from svc.chat.messages.rules import Surroundings
from svc.chat.moderation.commands import ModerationCommands
from svc.chat.moderation.reports import Reports
from svc.chat.moderation.routes import ModerationRoutes, TimeoutWatch
from svc.chat.moderation.rules import Moderation
from svc.chat.openapi.routes import DescriptionRoutes
from svc.chat.own.blocks import Blocks
from svc.chat.own.export import Part
from svc.chat.own.routes import OwnRoutes
from svc.chat.own.rules import OwnAffairs
from svc.chat.pages.routes import Pages
from svc.chat.settings.commands import SettingsCommands
from svc.chat.settings.routes import SettingsRoutes
from svc.chat.settings.rules import Settings
from svc.chat.status.commands import StatusCommands
from svc.chat.status.measurements import Tally, measurements
from svc.chat.status.probes import Probes
from svc.chat.status.routes import Status
from svc.chat.transfer.commands import TransferCommands
from svc.chat.transfer.rules import Exports
from svc.chat.voice.moderation import VoiceModeration
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.routes import SignallingPassThrough, VoiceEvents
from svc.chat.voice.rules import Voice
from svc.chat.voice.ways import client_urls, link, media_access
from svc.chat.webhooks.commands import WebhookCommands
from svc.chat.webhooks.compatible.routes import CompatibleRoutes
from svc.chat.webhooks.feature import WebhooksFeature
from svc.chat.webhooks.pictures import Pictures
from svc.chat.webhooks.routes import PostRoutes, WebhookRoutes

# Decoded in children: as many as a small machine has processors.
PICTURES_AT_ONCE = 2
DATABASE_NAME = "community.sqlite3"
_PACKAGE = Path(svc.__file__).parent
WEB_FOLDER = _PACKAGE / "web"
SCHEMA_FOLDER = _PACKAGE / "chat" / "schema"


@asynccontextmanager
async def opened(config: ChatConfig) -> AsyncIterator[Database]:
    """The database of DATA_DIR, which is ours alone meanwhile. Raises ConfigError."""
    with held(config.data_dir):
        path = config.data_dir / DATABASE_NAME
        try:
            database = await Database.open(path, migrations_in(SCHEMA_FOLDER), config.data_dir / "backups")
        except DatabaseError as fault:
            raise ConfigError(str(fault)) from None
        try:
            yield database
        finally:
            await database.close()


class Community:
    """Build it, `load` it, then serve its `routes` and run its `tasks`."""

    def __init__(
        self, config: ChatConfig, session: ClientSession, database: Database, *, secure: bool = False
    ) -> None:
        """`session` makes the connections to other services; `secure`: TLS ends here."""
        media = config.media
        self._config = config
        self._secure = secure
        self._new_id = Ids(time.time, secrets.randbits).new
        self.origins = Origins(config.allowed_origins, secure=secure)
        self.directory = Directory(time.time)
        self.media = media_of(config, database)
        self.tokens = AccessTokens(config.jwt_secret, self.directory)
        self.hub = Hub(self.directory, time.time)
        self.tally = Tally()
        self.probes = Probes()

        self.audit = Audit(database, self.directory)
        self.settings = Settings(database, self.directory, self.hub, self.audit)
        self.changes = Changes()
        self.members = Members(
            database,
            self.directory,
            self.hub,
            self.audit,
            self.changes,
            config.max_members,
            judged=lambda name: moderated(name, self.settings.current.profanityMode).text,
            avatar=self.media.urls.link,
        )
        self.channels = Channels(database, self.directory, self.hub, self.audit, self.changes, self._new_id)
        self.roles = Roles(
            database, self.directory, self.hub, self.audit, self.channels, self.members, self._new_id
        )
        self.moderation = Moderation(database, self.directory, self.members, self.audit, self.changes)
        self.timeouts = TimeoutWatch(self.moderation)
        self.invites = self._invites(database)
        self.reports = Reports(database, self.directory, self.hub, self.audit, self._author_of, self._new_id)
        self.sessions = self._sessions(database)
        self.joining = self._joining(session, database)
        self.devices = self._devices(database)
        occupancy = Occupancy()
        self.link = link(session, media, self.directory, occupancy)
        self.voice = self._voice(occupancy)
        self.voice_moderation = VoiceModeration(
            database, self.directory, self.hub, self.audit, self.voice, self.link
        )
        self.blocks = Blocks(database, self.directory, self.hub)
        self.files = self._files(session, database)
        self.messages = self._messages(database)
        self.sandbox = picture_sandbox(PICTURES_AT_ONCE)
        self.webhooks = self._webhooks(database)
        self.own_affairs = self._own_affairs(database)
        self.pass_through = SignallingPassThrough(session, client_urls(media), self.origins)
        self.live = self._live()
        self.backups = self._backups(database)
        self.exports = self._exports(database)
        self.commands = Commands(self._commands())
        self._registry = self._measured(database)

    async def load(self) -> None:
        """Read what there is from the database, before anybody is served."""
        await self.settings.load(self._config.discoverable)
        await self.voice_moderation.load()
        await self.members.load()
        await self.invites.load(invite_code(self._config.data_dir), time.time())
        await self.channels.load(self._config.first_channels, int(time.time() * 1000))
        await self.blocks.load()
        await self.messages.load()
        await self.webhooks.load()
        await self.files.load()

    def routes(self) -> list[web.RouteDef]:
        tables = [
            self.live.table(),
            JoiningRoutes(self.joining, self.sessions).table(),
            DeviceRoutes(self.devices).table(),
            AuditRoutes(self.audit).table(),
            MemberRoutes(self.members, self.roles, self.directory).table(),
            ChannelRoutes(self.channels, self.directory).table(),
            ModerationRoutes(self.moderation, self.reports).table(),
            InviteRoutes(self.invites).table(),
            SettingsRoutes(self.settings).table(),
            OwnRoutes(self.own_affairs, self.blocks, self._kept_of_a_member()).table(),
            MessageRoutes(self.messages).table(),
            self.files.table(),
            # Before the rest of /api/webhooks, for they are looked through in this order.
            PostRoutes(self.webhooks.posting).table(),
            WebhookRoutes(self.webhooks.webhooks, self.webhooks.avatars).table(),
            CompatibleRoutes(self.webhooks.posting).table(),
            self._status().table(),
            DescriptionRoutes(version("svc-server")).table(),
            Pages(WEB_FOLDER).table(),
        ]
        if self._config.media.url:
            tables.append(self.pass_through.table())
        return [route for table in tables for route in table]

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        """What runs beside the requests, for as long as the server does."""
        tasks = [
            self.live.run,
            self.timeouts.run,
            self.own_affairs.run,
            *self.messages.tasks(),
            *self.files.tasks(),
        ]
        return [*tasks, self.link.run] if self._config.media.url else tasks

    async def say_goodbye(self) -> None:
        """End the connections that would otherwise stay open."""
        self.messages.close()
        await self.live.close_all()
        await self.pass_through.close_all()
        await self.sandbox.close()

    def _commands(self) -> list[Mapping[str, Command]]:
        """What may be asked over the control socket."""
        return [
            SettingsCommands(self.settings).table(),
            InviteCommands(self.invites).table(),
            WebhookCommands(self.webhooks.webhooks, self.directory).table(),
            self.files.commands(),
            MemberCommands(self.directory, self.roles).table(),
            ModerationCommands(self.moderation, self.directory).table(),
            BackupCommands(self.backups).table(),
            TransferCommands(self.exports).table(),
            StatusCommands(self._config, self.probes).table(),
        ]

    def _backups(self, database: Database) -> Backups:
        return Backups(
            database,
            self._config.data_dir,
            self.media.objects if self.media.enabled else None,
            self._config.uploads.storage.folder,
            version("svc-server"),
        )

    def _exports(self, database: Database) -> Exports:
        config = self._config
        facts: dict[str, object] = {"name": config.server_name, "description": config.server_description}
        objects = self.media.objects if self.media.enabled else None
        return Exports(database, config.data_dir, objects, lambda: facts)

    def _invites(self, database: Database) -> Invites:
        return Invites(
            database,
            self.directory,
            self.roles,
            self.audit,
            self.changes,
            self._config.invites.joins_per_hour,
            self._new_id,
            lambda: new_code(secrets.choice),
        )

    def _status(self) -> Status:
        config = self._config
        server_id = kept_server_id(config.identity.server_id, config.data_dir)

        def info() -> dict[str, object]:
            return {
                "serverId": server_id,
                "name": config.server_name,
                "description": config.server_description,
                "members": len(self.directory.members),
                "identityTiers": list(config.identity.tiers),
                "iconUrl": self.files.icon_url(),
                **self.settings.current.public(),
            }

        shown_version = config.operating.version or version("svc-server")
        return Status(config.server_name, shown_version, info, self.tokens, self._registry, self.probes)

    def _sessions(self, database: Database) -> Sessions:
        return Sessions(
            database,
            self.directory,
            self.members,
            self.tokens,
            RefreshTokens(self._config.jwt_secret),
            lifetime_days=self._config.identity.refresh_ttl_days,
            new_id=self._new_id,
            random_bytes=secrets.token_bytes,
        )

    def _devices(self, database: Database) -> Devices:
        # Whoever goes is signed in nowhere any more.
        self.changes.member_removal.append(self.sessions.revoke_all)
        return Devices(
            database,
            self.directory,
            self.members,
            self.hub,
            self.audit,
            lambda: new_code(secrets.choice),
        )

    def _joining(self, session: ClientSession, database: Database) -> Joining:
        config = self._config
        code = invite_code(config.data_dir)
        return Joining(
            Trust.of(
                config.identity,
                kept_server_id(config.identity.server_id, config.data_dir),
                secure=self._secure,
            ),
            IssuerKeys(session, config.identity.oidc_issuer, time.monotonic),
            ServerDoor(
                self.moderation.refuse_banned,
                self.settings.invite_needed,
                InviteDoor(self.invites, InviteGuard(config.invites)),
            ),
            code,
            database=database,
            directory=self.directory,
            members=self.members,
            sessions=self.sessions,
            hub=self.hub,
            audit=self.audit,
            new_id=self._new_id,
        )

    def _files(self, session: ClientSession, database: Database) -> Files:
        files = Files(
            self._config,
            session,
            database,
            self.directory,
            self.hub,
            self.audit,
            self.members,
            self.media,
            self._new_id,
        )
        files.follow(self.changes)
        return files

    def _messages(self, database: Database) -> MessagesFeature:
        surroundings = Surroundings(
            profanity_mode=lambda: self.settings.current.profanityMode,
            slow_mode_wait_s=self.channels.slow_mode_wait_s,
            blocks=self.blocks.blocks,
            attached=self.files.attached,
            released=self.files.released,
        )
        feature = MessagesFeature(
            database,
            self.directory,
            self.hub,
            self.audit,
            Ids(time.time, secrets.randbits),
            self._config.message_cache_ttl_ms,
            surroundings,
            self.media.urls,
        )
        self.files.hang_on(feature.messages)
        feature.follow(self.changes)
        return feature

    def _webhooks(self, database: Database) -> WebhooksFeature:
        fetcher = Fetcher(Guard(self._config.identity.names))
        return WebhooksFeature(
            database,
            self.directory,
            self.hub,
            self.audit,
            self.changes,
            self.messages.messages,
            self.media,
            self.sandbox,
            Pictures(fetcher, self.sandbox, self.media, self.tally.pictures),
            data_dir=self._config.data_dir,
            new_id=self._new_id,
            profanity_mode=lambda: self.settings.current.profanityMode,
        )

    def _own_affairs(self, database: Database) -> OwnAffairs:
        self.changes.member_removal.append(self.blocks.forget_in)
        self.changes.member_gone.append(self.blocks.forget)
        forgetting = [self.devices.forget, self.members.make_nameless, self.files.forget]
        return OwnAffairs(database, self.directory, self.members, forgetting, self.messages.own.erase_some)

    def _kept_of_a_member(self) -> dict[str, Part]:
        """What an export holds, by name."""

        async def member(asker: Asker) -> AsyncIterator[object]:
            yield self.directory.member(asker.member_id).described()

        async def devices(asker: Asker) -> AsyncIterator[object]:
            for device in await self.devices.of(asker):
                yield device

        async def blocked(asker: Asker) -> AsyncIterator[object]:
            for member_id in self.blocks.of(asker.member_id):
                yield member_id

        own = self.messages.own
        return {
            "member": member,
            "devices": devices,
            "blocked": blocked,
            "uploads": self.files.kept,
            "messages": own.written,
            "reactions": own.reactions,
        }

    def _measured(self, database: Database) -> Registry:
        members = self.directory.members
        registry = measurements(self.hub, self.pass_through, members, self.link, database, self.tally)
        self.files.measure(registry)
        return registry

    def _live(self) -> LiveSockets:
        server_id = kept_server_id(self._config.identity.server_id, self._config.data_dir)
        signing_in = SignIn(self.hub, self.tokens, self._welcomes(), self._present())
        return LiveSockets(self.hub, self.directory, signing_in, self.origins, server_id, self._handlers())

    def _welcomes(self) -> list[Welcome]:
        return [
            self.members.welcome,
            self.roles.welcome,
            self.channels.welcome,
            self.settings.welcome,
            self.blocks.welcome,
            self.messages.welcome,
            self.files.welcome,
            *self._present(),
            self.voice.welcome,
        ]

    def _voice(self, occupancy: Occupancy) -> Voice:
        config = self._config
        voice = Voice(
            media_access(config.media),
            self.directory,
            self.hub,
            self._new_id,
            occupancy,
            self.link,
            config.voice_max_users,
        )
        control, changes = voice.control, self.changes
        changes.channel_added.append(control.channel_added)
        changes.channel_removed.append(control.channel_removed)
        changes.channel_shown.append(voice.channel_shown)
        changes.permissions_changed.append(control.permissions_changed)
        changes.member_gone.append(control.member_gone)
        return voice

    def _present(self) -> list[Welcome]:
        """What a page that resumes is told too, because no push that is kept tells of it."""
        return [self.messages.present]

    async def _author_of(self, asker_id: str, channel_id: str, message_id: str) -> str:
        return (await self.messages.history.one(asker_id, channel_id, message_id)).author.id

    def _handlers(self) -> Mapping[str, Handler]:
        tables = [
            VoiceEvents(self.voice, self.voice_moderation).handlers(),
            MessageRoutes(self.messages).handlers(),
            SettingsRoutes(self.settings).handlers(),
            self.files.handlers(),
        ]
        return {
            event: self.tally.counted(event, handler) for table in tables for event, handler in table.items()
        }
