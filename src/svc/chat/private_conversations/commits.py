"""Validates a commit to a conversation's group and applies its effects.

The functions run within a write transaction. They check the commit against the tables and update the group.
See RFC 9420 section 12.4.
"""

from collections.abc import Collection, Sequence

from svc.base.database import Connection
from svc.chat.errors import ChatError
from svc.chat.private_conversations import devices_store, framing, store
from svc.chat.private_conversations.devices_store import PrivateDevice
from svc.chat.private_conversations.store import PrivateGroup, PrivateLeaf


def read(body: bytes, conversation_id: str, content_type: int) -> framing.PrivateMessage:
    """Parse a message to this conversation's MLS group. Raises ChatError."""
    try:
        read = framing.read_private_message(body)
    except framing.FramingError as fault:
        raise ChatError("invalid_request", f"This is not a PrivateMessage: {fault}") from None
    if read.group_id != conversation_id.encode():
        raise ChatError("invalid_request", "The group id must be the id of the conversation")
    if read.content_type != content_type:
        raise ChatError("invalid_request", "This kind of message does not belong here")
    return read


def recipients(welcome: bytes | None) -> Sequence[bytes]:
    if welcome is None:
        return []
    try:
        return sorted(framing.read_welcome(welcome))
    except framing.FramingError as fault:
        raise ChatError("invalid_request", f"This is not a Welcome: {fault}") from None


def require_with(connection: Connection, conversation_id: str, member_id: str, device_id: str) -> None:
    """Raise ChatError if the member is in a channel's call on another device."""
    if store.devices_in_call(connection, conversation_id).get(member_id, device_id) != device_id:
        raise ChatError("no_device", "You are in this call with another device")


def added_by(
    connection: Connection, conversation_id: str, refs: Sequence[bytes], people: Collection[str]
) -> dict[str, PrivateDevice]:
    """Return the recipients of a Welcome, by device id. Raises ChatError."""
    added = devices_store.devices_of(connection, refs)
    if len(added) != len(refs):
        raise ChatError("invalid_request", "The Welcome is for key packages that were not fetched here")
    if any(device.member_id not in people for device in added.values()):
        raise ChatError("invalid_request", "The Welcome is for someone who is not in the conversation")
    for device in added.values():
        require_with(connection, conversation_id, device.member_id, device.id)
    return added


def require_possible(
    device_id: str, leaves: dict[str, PrivateLeaf], removed: Collection[str], added: Collection[str]
) -> None:
    # Otherwise, any device could remove members who belong to the group.
    if not all(removed_id in leaves and leaves[removed_id].gone for removed_id in removed):
        raise ChatError("invalid_request", "Only devices that no longer belong to the group can be removed")
    if set(added) & (set(leaves) - set(removed) | {device_id}):
        raise ChatError("invalid_request", "A device that is in the group cannot be added")


def require_leaf(leaves: dict[str, PrivateLeaf], device_id: str) -> None:
    if device_id not in leaves or leaves[device_id].gone:
        raise ChatError("no_device", "This device is not in the group of this conversation")


def settle(
    connection: Connection,
    conversation_id: str,
    after: PrivateGroup,
    device_id: str,
    removed: Collection[str],
    added: dict[str, PrivateDevice],
) -> None:
    """Update the devices in the group after a commit."""
    for removed_id in removed:
        store.LEAVES.delete(connection, conversation_id=conversation_id, device_id=removed_id)
    # The group's creator reads its first commit in the log, and thus learns that it was accepted.
    if after.epoch == 1:
        first = devices_store.DEVICES.get(connection, device_id=device_id)
        assert first is not None, "it takes part"
        store.put_leaf(connection, conversation_id, first, after.seq - 1)
    for device in added.values():
        store.put_leaf(connection, conversation_id, device, after.seq)
