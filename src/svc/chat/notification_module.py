"""Builds and connects the modules for notifications: levels, push subscriptions and the notifier.

Part of `community`. Contains no business logic.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from svc.chat.access.tokens import Session
from svc.chat.account.blocks import Blocks
from svc.chat.config import ChatConfig
from svc.chat.messages.feature import MessagesFeature
from svc.chat.notification_levels.endpoints import NotificationLevelEndpoints
from svc.chat.notification_levels.rules import NotificationLevels
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import Poster
from svc.chat.private_conversations.rules import PrivateConversations
from svc.chat.push.encryption import KEY_FILE, VapidKey
from svc.chat.push.endpoints import PushEndpoints
from svc.chat.push.notifier import PushNotifier, PushPreferences
from svc.chat.push.subscriptions import Subscriptions
from svc.chat.push.vapid_contact import Contact
from svc.chat.services import Services


class NotificationModule:
    """The modules for levels, push subscriptions and the notifier."""

    def __init__(
        self,
        services: Services,
        config: ChatConfig,
        outcomes: Counter[tuple[str, ...]],
        messages: MessagesFeature,
        blocks: Blocks,
        private: PrivateConversations,
    ) -> None:
        changes = services.changes
        names = config.identity.names
        self.contact = Contact(services.database, names)
        key = VapidKey.load(config.data_dir / KEY_FILE, lambda: self.contact.address)
        self.poster = Poster(AddressGuard(names))
        self.levels = NotificationLevels(services)
        self.subscriptions = Subscriptions(services.database, self.poster)
        wants = PushPreferences(self.levels, blocks.blocks, messages.threads.follows)
        self.ringing = PushNotifier(
            services, messages.history, wants, self.subscriptions, self.poster, key, outcomes
        )
        self.endpoints = [
            NotificationLevelEndpoints(self.levels),
            PushEndpoints(self.subscriptions, key.public),
        ]
        self.levels.on_presence.append(messages.presence.refresh)
        messages.messages.on_posted.append(self.ringing.posted)
        private.on_ring.append(self.ringing.privately)
        # Levels and subscriptions are deleted with their channels, members and sessions.
        changes.channel_deletion.append(self.levels.forget_channel_in)
        changes.channel_removed.append(self.levels.forget_channel)
        changes.member_removal.append(self.levels.forget_member_in)
        changes.member_gone.append(self.levels.forget_member)
        changes.sessions_ended.append(self.subscriptions.sessions_ended)

    async def load(self) -> None:
        await self.contact.load()
        await self.levels.load()
        await self.subscriptions.load()

    def welcome(self, session: Session) -> Mapping[str, object]:
        return self.levels.welcome(session)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.ringing.run]
