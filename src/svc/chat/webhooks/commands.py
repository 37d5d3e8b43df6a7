"""The operator's commands about webhooks. What holds for them is `rules`'."""

import time
from collections.abc import Mapping
from dataclasses import asdict

from svc.chat.access.directory import Directory
from svc.chat.channels.commands import channel_called
from svc.chat.control.commands import Command
from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, identifier, optional_text, text
from svc.chat.webhooks.limits import MAX_NAME
from svc.chat.webhooks.rules import Webhooks
from svc.chat.webhooks.store import Webhook


class WebhookCommands:
    def __init__(self, webhooks: Webhooks, directory: Directory) -> None:
        self._webhooks = webhooks
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {
            "webhook_create": self.create,
            "webhook_list": self.list,
            "webhook_edit": self.edit,
            "webhook_delete": self.delete,
        }

    async def create(self, arguments: Data) -> object:
        channel_id = channel_called(self._directory, identifier(arguments, "channel"))
        name = text(arguments, "name", most=4 * MAX_NAME)
        return self._shown(await self._webhooks.create(None, name, channel_id, time.time()))

    async def list(self, arguments: Data) -> object:
        return {"webhooks": [self._shown(webhook) for webhook in self._webhooks.managed(None)]}

    async def edit(self, arguments: Data) -> object:
        """Another `name` or `channel`, by name or id; an empty channel is none."""
        differences: dict[str, str | None] = {}
        if (name := optional_text(arguments, "name", most=4 * MAX_NAME)) is not None:
            differences["name"] = name
        if (channel := optional_text(arguments, "channel", most=MAX_ID_CHARACTERS)) is not None:
            differences["channel_id"] = channel_called(self._directory, channel) if channel else None
        if not differences:
            raise ChatError("invalid_request", "Give name or channel")
        webhook_id = identifier(arguments, "webhook_id")
        return self._shown(await self._webhooks.edit(None, webhook_id, differences, time.time()))

    async def delete(self, arguments: Data) -> object:
        await self._webhooks.delete(None, identifier(arguments, "webhook_id"), time.time())
        return {}

    def _shown(self, webhook: Webhook) -> dict[str, object]:
        """With what opens it: the operator has the key."""
        token = self._webhooks.token(webhook)
        path = None if token is None else f"/api/webhooks/{webhook.id}/{token}"
        shown = asdict(self._webhooks.shown(webhook))
        return {"webhook_id": shown.pop("id"), "token": token, "path": path, **shown}
