"""Response and event types for private conversations. `store` defines `PrivateConversation`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.private_conversations.devices_store import PackageBytes, PrivateDevice
from svc.chat.private_conversations.store import MAX_MISSED, Kind, PrivateEntry
from svc.chat.schemas import Id, Natural, Response

# If a device has fewer key packages than this, the server asks it for more.
LOW_STOCK = 20


class PackageStock(Response):
    """A device's remaining number of key packages. `device` is None if it is not registered for private
    conversations.
    """

    device: PrivateDevice | None
    left: Natural
    low_below: Natural = LOW_STOCK


class KeysLow(Response):
    device_id: Id
    left: Natural


class ClaimedPackage(Response):
    device_id: Id
    key_package: PackageBytes


class PrivateLog(Response):
    """Part of a conversation's log. The device may read only entries after `since`."""

    entries: Annotated[Sequence[PrivateEntry], Meta(max_length=MAX_MISSED)]
    epoch: Natural
    seq: Natural
    first_seq: Natural
    since: Natural


class PrivateSent(Response):
    conversation_id: Id
    seq: Natural
    epoch: Natural
    kind: Kind


class PrivateChanged(Response):
    conversation_id: Id
