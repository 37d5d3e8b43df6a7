"""What voice says of itself, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    NOTHING,
    Described,
    Endpoint,
    Event,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    integer,
    mapping,
    obj,
    string,
)
from svc.chat.messages.emoji import MAX_CHARACTERS as MAX_EMOJI_CHARACTERS

_STATE: dict[str, Schema] = dict.fromkeys(("muted", "deafened", "self_muted", "self_deafened"), BOOLEAN)
# The place of a raised hand in the order: a lower one was raised before. 0 for none.
_HAND: dict[str, Schema] = {"hand": integer(0)}
_SENT: dict[str, Schema] = {"camera": BOOLEAN, "screen": BOOLEAN}
_PERSON = Named("VoiceMember", obj({"id": ID, "nickname": string(), **_STATE, **_HAND, **_SENT}))
_PEOPLE = array(_PERSON)
_CLIENT_JOIN = obj(
    {name: string() for name in ("room_id", "server_id", "server_password", "user_token", "user_id")}
)
_GRANT = obj(
    {
        "urls": array(string()),
        "stun_servers": array(string()),
        # With a time-limited name and password where the operator has a TURN server.
        "ice_servers": array(obj({"urls": array(string())}, {"username": string(), "credential": string()})),
        # What a microphone is to send at most; 0 for no limit.
        "bitrate_kbps": integer(0),
        "client_join": _CLIENT_JOIN,
    }
)
_MUTE: dict[str, Schema] = {"muted": BOOLEAN, "deafened": BOOLEAN}
_VIEWERS = "who may view the channel; of a private conversation its members"
_ACT = ("unknown_member", "rank_too_low")
_THERE = ("unknown_channel", "not_in_voice")
_PUT_OUT = (*_ACT, "not_in_voice", "voice_unavailable")

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /sfu/client",
            "A media service's signalling, a WebSocket passed through",
            query={"service": integer(least=0)},
        )
    ],
    events=[
        Event(
            "voice_join",
            "Be let into a voice channel, or into the call of a private conversation by its id",
            asked({"channel_id": ID}),
            _GRANT,
            (
                *("channel_archived", "channel_full", "private_refused", "unknown_channel", "voice_full"),
                "voice_unavailable",
            ),
        ),
        Event(
            "private_call_decline",
            "Answer a private call that rings with no",
            asked({"conversation_id": ID}),
            NOTHING,
            ("unknown_conversation",),
        ),
        Event("voice_mute_self", "Show that one is silent or deaf", asked({}, _MUTE), obj(_STATE)),
        Event(
            "voice_mute",
            "Silence or deafen somebody wherever they go, or end that",
            asked({"member_id": ID}, _MUTE),
            obj(_STATE),
            _ACT,
        ),
        Event(
            "voice_hand",
            "Raise one's hand in a call, or take it down",
            asked({"channel_id": ID, "raised": BOOLEAN}),
            obj(_HAND),
            _THERE,
        ),
        Event(
            "voice_lower_hand",
            "Take down the raised hand of somebody in a call",
            asked({"member_id": ID, "channel_id": ID}),
            NOTHING,
            _THERE,
        ),
        Event(
            "voice_send",
            "Show that one sends a camera or a screen",
            asked({"channel_id": ID, **_SENT}),
            obj(_SENT),
            _THERE,
        ),
        Event(
            "voice_react",
            "Show an emoji to everybody in the call for a moment",
            asked({"channel_id": ID, "emoji": string(2 * MAX_EMOJI_CHARACTERS, 1)}),
            NOTHING,
            (*_THERE, "invalid_emoji", "rate_limited"),
        ),
        Event(
            "voice_stop_screen",
            "End the sharing of somebody's screen, for as long as they stay in the channel",
            asked({"member_id": ID}),
            NOTHING,
            _PUT_OUT,
        ),
        Event(
            "voice_disconnect",
            "Put somebody out of voice",
            asked({"member_id": ID}),
            NOTHING,
            _PUT_OUT,
        ),
        Event(
            "voice_move",
            "Send somebody to another voice channel",
            asked({"member_id": ID, "channel_id": ID}),
            NOTHING,
            (*_PUT_OUT, "channel_archived", "channel_full", "unknown_channel", "voice_full"),
        ),
    ],
    pushes=[
        Pushed(
            "voice_joined",
            "Somebody is in a voice channel",
            obj({"channel_id": ID, "member": _PERSON}),
            to=_VIEWERS,
        ),
        Pushed(
            "voice_left",
            "And no more; `lost` says that the connection broke, so that they may be back in a moment",
            obj({"channel_id": ID, "member_id": ID}, {"lost": BOOLEAN}),
            to=_VIEWERS,
        ),
        Pushed(
            "voice_updated",
            "What is different about somebody in voice",
            obj({"channel_id": ID, "member_id": ID}, {**_STATE, **_HAND, **_SENT}),
            to=_VIEWERS,
        ),
        Pushed(
            "voice_reacted",
            "Somebody in the call reacts",
            obj({"channel_id": ID, "member_id": ID, "emoji": string()}),
            to="who is in the call",
            kept=False,
        ),
        Pushed(
            "voice_speaking",
            "Who speaks in a call; twice a second at most",
            obj({"channel_id": ID, "member_ids": array(ID)}),
            to="who may view the channel, looks at the page and is not in the call",
            kept=False,
        ),
        Pushed(
            "voice_screen_stopped",
            "A moderator has stopped your screen; leave the channel to share one again",
            obj({"channel_id": ID}),
            to="whose screen it is",
        ),
        Pushed(
            "private_call_declined",
            "A member of a private conversation does not take its call",
            obj({"conversation_id": ID, "member_id": ID}),
            to="members of the conversation",
            kept=False,
        ),
        Pushed(
            "voice_state",
            "Who is in a channel that has come into sight",
            obj({"channel_id": ID, "members": _PEOPLE}),
            to="to whom the channel is new",
        ),
        Pushed(
            "voice_moved",
            "A moderator sends you to another channel; you are put out of the one you are in",
            obj({"from_channel_id": ID, "channel_id": ID}),
            to="who is moved",
        ),
    ],
    welcome={"voice": mapping(_PEOPLE)},
)
