"""Relays and owners of different versions understand each other during a rolling upgrade.

The names below are those of protocol 1. Adding an optional field does not require a new `PROTOCOL`. Any other
change does.
"""

from typing import get_args

import msgspec
import pytest

from svc.chat.cluster import relay_protocol
from svc.chat.cluster.relay_protocol import PROTOCOL, FeedItem, FromOwner, FromRelay, Heartbeat, StateRequest

# Maps the tag of each message to its fields.
FROM_RELAY = {
    "attach": "protocol relay session url epoch number pages online",
    "sign_in": "request page event id data is_resumed",
    "ask": "request page event id data",
    "greet": "request page with_online",
    "opened": "origin",
    "closed": "page",
    "repair": "after",
}
FROM_OWNER = {
    "attached": "epoch number seq goes_on server_id allowed_origins media_urls media_services refused"
    " shares_online",
    "directory": "records is_last online",
    "signed_in": "request number session frame",
    "refusal": "request code message more",
    "answered": "request frame session in_sight idle",
    "not_begun": "request",
    "repaired": "batches",
    "pulse": "number",
}
# These types are encoded as arrays, so only the order of their fields matters.
ITEMS = {
    "p": "frame to but_not seq presence",
    "m": "id role_ids timeout_until",
    "r": "id rank permissions",
    "c": "id kind archived roles members",
    "t": "bot_id maker_id",
    "d": "kind id",
    "x": "relay page code reason",
}
AUDIENCES = {"e": "", "v": "channel_id", "o": "member_ids channel_id", "h": "permission channel_id"}


@pytest.mark.parametrize(
    ("messages", "names"),
    [
        (FromRelay, FROM_RELAY),
        (FromOwner, FROM_OWNER),
        (FeedItem, ITEMS),
        (relay_protocol.AudienceRecord, AUDIENCES),
    ],
    ids=["from a relay", "from the owner", "items of the feed", "audiences"],
)
def test_messages_keep_their_names_on_the_wire(messages: object, names: dict[str, str]) -> None:
    structs = get_args(messages)
    assert PROTOCOL == 1
    assert {
        struct.__struct_config__.tag: " ".join(struct.__struct_encode_fields__) for struct in structs
    } == names


def test_a_message_is_tagged_with_its_name_in_protocol_1() -> None:
    assert msgspec.msgpack.decode(relay_protocol.encode(Heartbeat(7))) == {"type": "pulse", "number": 7}
    older = msgspec.msgpack.encode({"type": "greet", "request": 1, "page": 2})
    assert relay_protocol.decode_from_relay(older) == StateRequest(1, 2, with_online=True)
