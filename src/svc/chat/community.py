"""Builds and connects all features of the chat server.

This is the only module that imports every feature. It contains no business logic. `app` adds the HTTP server.
See ARCHITECTURE.md.
"""

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from aiohttp import ClientSession, web
from msgspec import UNSET

import svc
from svc.base import machine
from svc.base.database import Database
from svc.base.ids import BufferedBits, Ids
from svc.base.metrics import Registry
from svc.base.open_file_limit import limit
from svc.base.package_version import package_version
from svc.chat.access.directory import Directory
from svc.chat.access.origins import Origins
from svc.chat.access.rate_limits import RateLimits
from svc.chat.access.tokens import AccessTokens, Session
from svc.chat.account.blocks import Blocks
from svc.chat.account.endpoints import AccountEndpoints, Part
from svc.chat.account.rules import AccountRules
from svc.chat.audit.endpoints import AuditEndpoints
from svc.chat.audit.log import Audit
from svc.chat.auth_module import AuthDependencies, AuthModule
from svc.chat.authentication.trusted_issuers import TrustedIssuers, read_or_create_server_id
from svc.chat.automod.endpoints import AutomodEndpoints
from svc.chat.automod.rule_engine import Automod
from svc.chat.backup.backups import Backups
from svc.chat.backup.endpoints import BackupCommands, BackupEndpoints
from svc.chat.backup.stored_backups import StoredBackups
from svc.chat.bots.endpoints import BotCommands, BotEndpoints
from svc.chat.bots.rules import Bots
from svc.chat.channels.endpoints import ChannelCommands, ChannelEndpoints
from svc.chat.channels.rules import Channels
from svc.chat.clock_repair.repair import ClockRepair
from svc.chat.config import ChatConfig
from svc.chat.control.commands import Commands, Control
from svc.chat.endpoints import Endpoints, Handler
from svc.chat.file_module import FileModule, media_of
from svc.chat.import_export.exports import Exports, TransferCommands
from svc.chat.linked_accounts.endpoints import LinkedAccountEndpoints
from svc.chat.linked_accounts.rules import LinkedAccounts
from svc.chat.live.hub import Hub, steady_clock
from svc.chat.live.sign_in import ClientSignIn, Welcome
from svc.chat.live.socket import LiveSockets
from svc.chat.members import responses
from svc.chat.members.endpoints import MemberCommands, MemberEndpoints
from svc.chat.members.roles import Roles
from svc.chat.members.rules import Members
from svc.chat.messages.history import UnreadTotals
from svc.chat.messages.message import WEBHOOK
from svc.chat.messages.ports import MessagePorts
from svc.chat.messages.profanity import moderated
from svc.chat.messaging_module import MessagingModule
from svc.chat.moderation.endpoints import ModerationCommands, ModerationEndpoints
from svc.chat.moderation.history import History
from svc.chat.moderation.reports import Reports, ReportSubject
from svc.chat.moderation.rules import Moderation
from svc.chat.notification_module import NotificationModule
from svc.chat.openapi.endpoints import DescriptionEndpoints
from svc.chat.pages.routes import WEB_FOLDER, Pages
from svc.chat.private_conversations.feature import PrivateDependencies, PrivateFeature
from svc.chat.server_status.endpoints import Info, Probes, StatusCommands, StatusEndpoints
from svc.chat.server_status.health_report import HealthReport, Sources
from svc.chat.server_status.measurements import RequestCounts, measurements
from svc.chat.services import Changes, Services
from svc.chat.settings.endpoints import SettingsCommands, SettingsEndpoints
from svc.chat.settings.mdns_records import own_name
from svc.chat.settings.rules import Settings
from svc.chat.settings.setting_types import Values
from svc.chat.unread_counts.counts_tokens import CountsTokens
from svc.chat.unread_counts.endpoints import RailEndpoints
from svc.chat.voice.endpoints import VoiceEndpoints
from svc.chat.voice.moderation import VoiceModeration
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.pass_through import SignallingPassThrough, urls_of
from svc.chat.voice.rules import Voice
from svc.chat.voice.sfu_pool import links_to

DATABASE_NAME = "community.sqlite3"
_PACKAGE = Path(svc.__file__).parent
SCHEMA_FOLDER = _PACKAGE / "chat" / "schema"


class Community:
    """A community and its features. Call `load` first, then serve its `routes` and run its `tasks`.

    `secure` means that this server terminates TLS. `machine` is the hostname. `hub` is a cluster node's hub.
    """

    def __init__(
        self,
        config: ChatConfig,
        session: ClientSession,
        database: Database,
        *,
        secure: bool,
        machine: str,
        hub: Hub | None = None,
    ) -> None:
        """Build the features."""
        media, self._config, self._database = config.media, config, database
        self._secure, self._machine = secure, machine
        # The server's URL. Empty while the server is not running.
        self.address = ""
        self._server_id = read_or_create_server_id(config.identity.server_id, config.data_dir)
        self._ids = Ids(time.time, BufferedBits(secrets.token_bytes))
        self.origins = Origins(config.allowed_origins, secure=secure)
        self.hub = hub if hub is not None else Hub(Directory(time.time), steady_clock())
        self.directory = self.hub.directory
        self.media = media_of(config, database)
        self.pace, self.changes = RateLimits(time.monotonic), Changes()
        self.tokens = AccessTokens(config.jwt_secret, self.directory)
        days = config.identity.refresh_ttl_days
        self.clock_repair = ClockRepair(database, self.directory, self._ids, days, time.time, time.monotonic)
        self.tally, self.probes, self.audit = RequestCounts(), Probes(), Audit(database, self.directory)
        services = Services(database, self.directory, self.hub, self.audit, self.changes, self._ids)
        # The name and description from the environment apply until the owner changes them.
        values = Values(name=config.server_name, description=config.server_description)
        self.settings = Settings(services, values)
        self.members = Members(services, config.max_members, self._filter, self.media.urls.link)
        self.channels, self.blocks = Channels(services), Blocks(services)
        self.roles = Roles(services, self.channels, self.members)
        self.moderation, self.reports = Moderation(services, self.members), Reports(services, self._author_of)
        occupancy = Occupancy()
        self.automod = Automod(services, self.reports, self.moderation, self.settings.profanity_mode)
        self.link = links_to(session, media, self.directory, occupancy, self.hub.epoch)
        self.auth = self._auth(services, session)
        self.bots = Bots(services, self.members, self.roles, self.tokens, secrets.token_urlsafe)
        self.files = FileModule(services, config, session, self.members, self.media, self._filter)
        self.private = self._private(services, occupancy)
        self.voice = Voice(services, media, occupancy, self.link, self.private, config.voice_max_users)
        self.voice_moderation = VoiceModeration(services, self.voice, self.link)
        self.messaging = self._messaging(services)
        self.messages = self.messaging.messages
        self.notifications = NotificationModule(
            services, config, self.tally.pushes, self.messages, self.blocks, self.private.conversations
        )
        self.counts_tokens = CountsTokens(services, config.jwt_secret, secrets.token_bytes)
        self.linked_accounts = LinkedAccounts(services, self.auth.devices)
        self.account = self._account_rules(database)
        self.pass_through = SignallingPassThrough(session, self.origins, lambda: urls_of(media))
        self.backups = self._backups(database)
        self.kept_backups = StoredBackups(services, self.backups, config.data_dir, secrets.token_urlsafe)
        self._groups = self.auth, self.messaging, self.files, self.notifications
        self._endpoints = self._all_endpoints()
        self.live = self._live()
        self.exports = self._exports(database)
        self.commands = Control(self._commands())
        self.registry = self._registry(database)

    async def load(self) -> None:
        """Load everything from the database before serving."""
        await self.clock_repair.load()
        await self.auth.load()
        await self.settings.load(self._config.discoverable)
        await self.voice_moderation.load()
        await self.members.load()
        await self.auth.sessions.load()
        await self.bots.load()
        await self.counts_tokens.load()
        await self.channels.load(self._config.first_channels, int(time.time() * 1000))
        await self.blocks.load()
        await self.automod.load(time.time())
        await self.messaging.load()
        await self.files.load()
        await self.notifications.load()
        await self.private.load()
        self.directory.may_change = lambda: self._database.in_exclusive_commit

    def routes(self) -> list[web.RouteDef]:
        settings, icon = self.settings, self.files.icon
        page = Pages(WEB_FOLDER, lambda: settings.current.name, icon.address, self._config.data_dir)
        tables = [
            self.live.table(),
            *(endpoints.table() for endpoints in self._endpoints),
            self._status().table(),
            page.table(),
        ]
        if self._config.media.url:
            tables.append(self.pass_through.table())
        return [route for table in tables for route in table]

    def _all_endpoints(self) -> list[Endpoints]:
        history = History(self._database, self.audit, self.auth.invites.invitation_of)
        return [
            *(endpoints for group in self._groups for endpoints in group.endpoints),
            AuditEndpoints(self.audit),
            BackupEndpoints(self.kept_backups),
            BotEndpoints(self.bots),
            MemberEndpoints(self.members, self.roles, self.directory, self.auth.devices.last_seen),
            ChannelEndpoints(self.channels, self.directory),
            ModerationEndpoints(self.moderation, self.reports, history),
            AutomodEndpoints(self.automod, self.messages.history.latest_of_members),
            SettingsEndpoints(self.settings),
            AccountEndpoints(self.account, self.blocks, self._kept_of_a_member()),
            VoiceEndpoints(self.voice, self.voice_moderation),
            DescriptionEndpoints(package_version()),
            self.private.endpoints,
            self._rail(),
            LinkedAccountEndpoints(
                self.linked_accounts, self.counts_tokens, self.directory, self.origins.permits
            ),
        ]

    def _rail(self) -> RailEndpoints:
        def totals(member_id: str) -> UnreadTotals:
            muted = partial(self.notifications.levels.is_muted, now_ms=int(time.time() * 1000))
            return self.messages.reads.totals(member_id, muted)

        return RailEndpoints(
            self.counts_tokens, totals, lambda: self.settings.current.name, self.files.icon.content
        )

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        """Return the background tasks."""
        tasks = [
            self.live.run,
            self.clock_repair.run,
            self.moderation.run,
            self.account.run,
            *(task for group in (*self._groups, self.private) for task in group.tasks()),
        ]
        return [*tasks, self.link.run, self.voice.speaking.run] if self._config.media.url else tasks

    async def send_goodbye(self) -> None:
        """Close long-lived connections."""
        await self.kept_backups.close()
        await self.live.close_all()
        await self.pass_through.close_all()
        await self.messaging.close()
        # Wake the waiting worker. The control socket is already closed, so the worker learns that the server
        # has stopped.
        self.files.queue.signal.announce()

    def _commands(self) -> list[Commands]:
        """Return the commands for the control socket."""
        return [
            *self.auth.commands,
            *self.messaging.commands,
            *self.files.commands,
            SettingsCommands(self.settings),
            MemberCommands(self.directory, self.roles),
            ModerationCommands(self.moderation, self.directory),
            ChannelCommands(self.channels, self.directory),
            BotCommands(self.bots, self.directory),
            BackupCommands(self.backups),
            TransferCommands(self.exports),
            StatusCommands(self._config, self.probes, self._sources(), lambda: self.address),
        ]

    def _backups(self, database: Database) -> Backups:
        config, objects = self._config, self.media.objects if self.media.enabled else None
        folder = config.uploads.storage.folder
        return Backups(database, config.data_dir, objects, folder, package_version())

    def _exports(self, database: Database) -> Exports:
        def facts() -> dict[str, object]:
            values = self.settings.current
            return {"name": values.name, "description": values.description}

        objects = self.media.objects if self.media.enabled else None
        return Exports(database, self._config.data_dir, objects, facts)

    def _status(self) -> StatusEndpoints:
        config = self._config
        server_id = self._server_id

        def info() -> Info:
            values = self.settings.current
            return Info(
                serverId=server_id,
                name=values.name,
                description=values.description,
                members=len(self.directory.members),
                lanOpen=values.lanOpen,
                identityTiers=config.identity.tiers,
                signIn=config.identity.sign_in(),
                joinPolicy=values.joinPolicy,
                iconUrl=self.files.icon.address(),
                rules=values.rules,
                rulesVersion=values.rules_version,
                instanceId=config.operating.instance_id or UNSET,
            )

        shown_version = config.operating.version or package_version()
        report = HealthReport(config, self._sources(), shown_version, int(time.time() * 1000))
        return StatusEndpoints(shown_version, info, self.tokens, self.registry, self.probes, report)

    def _sources(self) -> Sources:
        return Sources(
            works=self._database.works,
            database=self._database.path,
            link=self.link,
            uploads_enabled=self.media.enabled,
            jobs_waiting=lambda: self.files.queue.waiting,
            worker_up=lambda: self.files.worker.up,
            backups=self.kept_backups.made_at_ms,
            pages=self.hub.clients,
            calls=lambda: len(self.pass_through),
            secure=self._secure,
            push_contact=lambda: self.notifications.contact.address,
            machine=lambda: machine.examine(limit()),
        )

    def _filter(self, text: str) -> str:
        """Return the text after applying the profanity setting. Raises ChatError."""
        return moderated(text, self.settings.profanity_mode()).text

    def _auth(self, services: Services, session: ClientSession) -> AuthModule:
        local = [own_name(self._server_id), self._machine.partition(".")[0]]
        identity = self._config.identity
        trust = TrustedIssuers.of(identity, self._server_id, secure=self._secure, local_names=local)
        return AuthModule(
            services,
            self._config,
            session,
            trust,
            AuthDependencies(self.tokens, self.members, self.roles, self.moderation, self.settings),
        )

    def _private(self, services: Services, occupancy: Occupancy) -> PrivateFeature:
        dependencies = PrivateDependencies(
            devices=self.auth.devices,
            blocks=self.blocks.blocks,
            media=self.media,
            serve=self.files.media_endpoints.serve,
            report=self.reports.about_private,
            users=occupancy.users,
        )
        data_dir, days = self._config.data_dir, self._config.mls_retention_days
        return PrivateFeature(services, self._server_id, data_dir, days, dependencies)

    def _messaging(self, services: Services) -> MessagingModule:
        ports = MessagePorts(
            urls=self.media.urls,
            settings=self.settings,
            slow_mode=self.channels,
            blocklist=self.blocks,
            uploads=self.files.uploads,
            files=self.files,
            moderator=self.automod,
        )
        messaging = MessagingModule(
            services,
            self._config,
            self.media,
            ports,
            self.tally,
            lambda: self.settings.current.linkPreviews,
        )
        self.files.uploads.on_described.append(messaging.messages.messages.describe_attachment)
        self.settings.on_change("retentionDays", messaging.messages.retention.changed)
        return messaging

    def _account_rules(self, database: Database) -> AccountRules:
        self.changes.member_removal.append(self.blocks.forget_in)
        self.changes.member_gone.append(self.blocks.forget)
        forgetting = [
            self.auth.devices.forget,
            self.auth.invites.forget,
            self.members.make_nameless,
            self.files.forget,
        ]
        own = AccountRules(database, self.directory, self.members, forgetting, self.messages.own.erase_some)
        self.changes.messages_removal.append(own.erase_recent)
        self.changes.messages_gone.append(own.erasure_due)
        return own

    def _kept_of_a_member(self) -> dict[str, Part]:
        """Return the parts of a member's data export, keyed by name."""

        async def member(session: Session) -> AsyncIterator[object]:
            yield responses.member(self.directory.member(session.member_id))

        async def devices(session: Session) -> AsyncIterator[object]:
            for device in await self.auth.devices.of(session):
                yield device

        async def linked_accounts(session: Session) -> AsyncIterator[object]:
            for link in await self.linked_accounts.links(session.member_id):
                yield link

        async def account_confirmations(session: Session) -> AsyncIterator[object]:
            for confirmation in await self.linked_accounts.confirmations(session.member_id):
                yield confirmation

        async def blocked(session: Session) -> AsyncIterator[object]:
            for member_id in self.blocks.of(session.member_id):
                yield member_id

        own = self.messages.own
        return {
            "member": member,
            "devices": devices,
            "linked_accounts": linked_accounts,
            "account_confirmations": account_confirmations,
            "blocked": blocked,
            "uploads": self.files.export_uploads,
            "messages": own.export_messages,
            "reactions": own.reactions,
        }

    def _registry(self, database: Database) -> Registry:
        members = self.directory.members
        registry = measurements(self.hub, self.pass_through, members, self.link, database, self.tally)
        self.files.measure(registry)
        return registry

    def _live(self) -> LiveSockets:
        signing_in = ClientSignIn(self.hub, self.tokens, self.pace, self._welcomes(), [self.messages.present])
        pages = self.hub, signing_in, self.origins, self.pace
        return LiveSockets(*pages, self._server_id, self._handlers(), self.notifications.contact.seen)

    def _welcomes(self) -> list[Welcome]:
        return [
            self.members.welcome,
            self.roles.welcome,
            self.channels.welcome,
            self.settings.welcome,
            self.blocks.welcome,
            self.messages.welcome,
            self.files.welcome,
            self.notifications.welcome,
            self.voice.welcome,
        ]

    async def _author_of(self, asker_id: str, channel_id: str, message_id: str) -> ReportSubject:
        author = (await self.messages.history.get(asker_id, channel_id, message_id)).author
        return ReportSubject(author.id, author.display_name if author.kind == WEBHOOK else None)

    def _handlers(self) -> Mapping[str, Handler]:
        return {
            event: self.tally.count_requests(event, handler)
            for endpoints in self._endpoints
            for event, handler in endpoints.handlers().items()
        }
