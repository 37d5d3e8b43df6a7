"""Every way in which this server refuses a request: one list of codes, one body.

Clients match on `error`; `message` is for people and may change. Knows no HTTP library
and no feature; statuses stand here because a code has the same one everywhere.
"""

from collections.abc import Mapping

_CODES: Mapping[str, tuple[int, str]] = {
    "approval_pending": (403, "Somebody has to approve that you join; ask again in a moment"),
    "approval_refused": (403, "You were not approved to join this server"),
    "auth_required": (401, "Sign in first"),
    "banned": (403, "You are banned from this server"),
    "body_too_large": (413, "The request is too large"),
    "challenge_invalid": (401, "The nonce is none of ours, was used before, or is over; ask for another"),
    "channel_archived": (409, "This channel is archived and can only be read"),
    "channel_full": (409, "All seats in this voice channel are taken"),
    "code_invalid": (403, "This code is not valid, was used before, or is over"),
    "already_resolved": (409, "Somebody has resolved this report already"),
    "emoji_name_taken": (409, "There is an emoji of that name already"),
    "devices_changed": (409, "Devices have left this conversation. Remove them from its group first"),
    "empty_message": (400, "A message says something"),
    "epoch_passed": (409, "Another device was first. Read what you have missed and try again"),
    "export_running": (429, "An export is being written already; try again when it is done"),
    "forbidden": (403, "You may not do this here"),
    "identity_taken": (409, "This identity belongs to another member already"),
    "identity_tier_refused": (403, "This server does not take identities of this kind"),
    "in_timeout": (403, "You are in timeout and can only read"),
    "internal_error": (500, "The server failed to handle this; it has been logged"),
    "invalid_emoji": (400, "That is not an emoji"),
    "invalid_image": (400, "This picture cannot be read"),
    "invalid_emoji_name": (400, "The name of an emoji has 2 to 30 small letters, digits and underscores"),
    "invalid_json": (400, "The request body must be a JSON object in UTF-8"),
    "invalid_nickname": (400, "A name has 1 to 32 characters that can be seen"),
    "invalid_payload": (400, "Something about this payload is wrong; nothing was posted"),
    "invalid_query": (400, "The search cannot be understood"),
    "invalid_request": (400, "The request lacks something, or has the wrong kind of value"),
    "invalid_settings": (400, "Something about these settings is wrong; nothing was changed"),
    "invite_busy": (429, "Too many have joined by this invite lately; wait a little"),
    "invite_invalid": (403, "This invite is not valid"),
    "invite_required": (403, "An invite is needed to join"),
    "issuer_unavailable": (503, "The issuer of this identity cannot be reached right now"),
    "joins_disabled": (403, "This server accepts nobody at the moment"),
    "last_device": (409, "Without this device nobody could sign in as you any more"),
    "lease_lost": (409, "Somebody else has this job, or it is over"),
    "media_address_invalid": (403, "This address was not made by this server, or was changed"),
    "media_address_over": (403, "This address is over; ask for the message again"),
    "media_gone": (409, "This file is not kept any more; upload it again"),
    "message_too_long": (400, "A message has at most 4,000 characters"),
    "method_not_allowed": (405, "This address does not take that method"),
    "nickname_taken": (409, "Another member has this name or one that looks like it"),
    "no_device": (409, "This device does not take part in private conversations yet"),
    "no_channel": (400, "This webhook has no channel to post to"),
    "not_found": (404, "There is nothing here"),
    "not_in_voice": (404, "This member is in no voice channel that you see"),
    "origin_refused": (403, "Pages of that site may not use this server"),
    "offset_mismatch": (409, "The upload has not come that far, or further"),
    "owner_must_stay": (409, "Make somebody else the owner first"),
    "private_refused": (403, "You cannot write to this member"),
    "profanity_refused": (400, "This server does not take such words"),
    "proof_invalid": (401, "This does not prove who you are"),
    "quota_exceeded": (403, "Your files have reached a member's limit. Delete some first"),
    "range_not_satisfiable": (416, "The file has no such bytes"),
    "rank_too_low": (403, "You need a higher role to do this"),
    "rate_limited": (429, "Too many requests; wait a little"),
    "refresh_invalid": (401, "The refresh token is not valid, or not any more; sign in again"),
    "rule_refused": (400, "A rule of this server does not let this message through"),
    "rules_not_accepted": (403, "Accept the rules of this server first"),
    "search_busy": (503, "Too many searches are running; try again in a moment"),
    "search_running": (429, "Your last search is still running; wait for its answer"),
    "search_too_long": (400, "This search takes too long. Use fewer or rarer words"),
    "server_full": (403, "This server has as many members as it takes"),
    "server_stopping": (503, "The server is stopping; come back in a moment"),
    "slow_mode": (429, "This channel is in slow mode; wait a little"),
    "storage_full": (507, "The server has no room for this. Try again later"),
    "storage_unavailable": (503, "The server cannot store anything right now; nothing was changed"),
    "token_invalid": (401, "The access token is not valid, or not any more"),
    "too_many": (409, "There are as many of these as the server keeps"),
    "too_many_blocks": (409, "You have blocked as many members as you can"),
    "too_many_connections": (503, "The server has no room for another connection"),
    "too_many_devices": (409, "You have as many devices as a member may have; unlink one first"),
    "too_many_invite_attempts": (429, "Too many wrong invite codes; wait a little"),
    "too_many_requests": (429, "Too many requests; wait a little"),
    "too_many_waiting": (429, "Too many people wait for approval; try again later"),
    "too_slow": (408, "The request took too long to arrive"),
    "tus_version": (412, "This server speaks another version of tus"),
    "unknown_application": (404, "Nobody waits for approval under this id"),
    "unknown_backup": (404, "There is no such backup"),
    "unknown_ban": (404, "There is no such ban"),
    "unknown_channel": (404, "There is no such channel"),
    "unknown_conversation": (404, "There is no such conversation"),
    "unknown_device": (404, "You have no such device"),
    "unknown_emoji": (404, "There is no such emoji"),
    "unknown_event": (400, "There is no such event"),
    "unknown_file": (404, "There is no such file any more"),
    "unknown_invite": (404, "There is no such invite"),
    "unknown_job": (404, "There is no such job that was given up"),
    "unknown_member": (404, "There is no such member"),
    "unknown_message": (404, "There is no such message"),
    "unknown_report": (404, "There is no such report"),
    "unknown_role": (404, "There is no such role"),
    "unknown_rule": (404, "There is no such rule"),
    "unknown_webhook": (404, "There is no such webhook"),
    "unsupported_encoding": (415, "Compressed requests are not accepted. Leave out Content-Encoding"),
    "unsupported_type": (400, "Only pictures that are PNG, JPEG, WebP or GIF are accepted"),
    "unknown_upload": (404, "You have no such upload, or it is used already"),
    "upload_busy": (423, "This upload is being received at this moment"),
    "upload_complete": (409, "All of this upload is here already"),
    "upload_cut_short": (400, "The file did not arrive to its end"),
    "upload_not_done": (409, "This upload is not checked yet"),
    "upload_too_large": (413, "The file is too large"),
    "uploads_disabled": (503, "This server takes no uploads"),
    "voice_full": (409, "All seats in the voice channels of this server are taken"),
    "voice_unavailable": (503, "The voice server cannot be reached right now"),
    "wrong_content_type": (415, "The request has the wrong Content-Type"),
}


CODES = tuple(_CODES)


def status_of(code: str) -> int:
    return _CODES[code][0]


class ChatError(Exception):
    """A refusal that the asker is told about."""

    def __init__(self, code: str, message: str = "", more: Mapping[str, object] | None = None) -> None:
        """`more` goes into the body beside code and message."""
        self.status, usual = _CODES[code]
        self.code = code
        self.message = message or usual
        self.more = more or {}
        super().__init__(code)

    def body(self) -> dict[str, object]:
        return {"error": self.code, "message": self.message, **self.more}


def from_status(status: int) -> ChatError:
    """The refusal that a bare HTTP status stands for."""
    if status < 500:
        for code in ("not_found", "method_not_allowed", "body_too_large"):
            if _CODES[code][0] == status:
                return ChatError(code)
        return ChatError("invalid_request")
    return ChatError("internal_error")
