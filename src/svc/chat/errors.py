"""Defines the API's error codes, and the exception that becomes an error response.

Clients match on `error`. `message` is for people and may change. Each code always has the same HTTP status.
Independent of HTTP libraries and features.
"""

from collections.abc import Mapping

_CODES: Mapping[str, tuple[int, str]] = {
    "approval_pending": (403, "You are waiting for approval; ask again in a moment"),
    "approval_refused": (403, "You were not approved to join this server"),
    "auth_required": (401, "Sign in first"),
    "banned": (403, "You are banned from this server"),
    "body_too_large": (413, "The request is too large"),
    "challenge_invalid": (401, "Unknown, used or expired nonce; ask for another"),
    "channel_archived": (409, "This channel is archived and can only be read"),
    "channel_in_use": (
        409,
        "Someone is in this voice channel. Its encryption can only be changed while it is empty",
    ),
    "channel_full": (409, "This voice channel is full"),
    "code_invalid": (403, "This code is invalid, already used or expired"),
    "already_resolved": (409, "Someone has already resolved this report"),
    "emoji_name_taken": (409, "An emoji with this name already exists"),
    "devices_changed": (409, "Devices have left this conversation. Remove them from its group first"),
    "empty_message": (400, "The message is empty"),
    "epoch_passed": (409, "Another device was faster. Fetch the missed messages and try again"),
    "export_running": (429, "An export is already running; try again when it is done"),
    "forbidden": (403, "You do not have permission to do this here"),
    "identity_taken": (409, "This identity already belongs to another member"),
    "identity_tier_refused": (403, "This server does not accept identities of this kind"),
    "in_timeout": (403, "You are in timeout and can only read"),
    "internal_error": (500, "The server failed to handle this request. The error was logged"),
    "invalid_emoji": (400, "This is not an emoji"),
    "invalid_image": (400, "This picture cannot be read"),
    "invalid_emoji_name": (
        400,
        "Emoji names must have 2 to 30 lowercase letters, digits or underscores",
    ),
    "invalid_json": (400, "The request body must be a JSON object in UTF-8"),
    "invalid_nickname": (400, "A name must have 1 to 32 visible characters"),
    "invalid_payload": (400, "The payload is not valid; nothing was posted"),
    "invalid_query": (400, "The search query is not valid"),
    "invalid_request": (400, "Something is missing from the request or has the wrong type"),
    "invalid_settings": (400, "The settings are not valid; nothing was changed"),
    "invite_busy": (429, "Too many people have joined with this invite recently; try again later"),
    "invite_invalid": (403, "This invite is not valid"),
    "invite_required": (403, "You need an invite to join"),
    "issuer_unavailable": (503, "The issuer of this identity cannot be reached right now"),
    "joins_disabled": (403, "This server is not accepting new members right now"),
    "last_device": (409, "This is your last device. Without it, nobody can sign in as you"),
    "link_invalid": (400, "This does not prove that both accounts belong to the same person"),
    "lease_lost": (409, "Another worker has this job, or it has ended"),
    "media_address_invalid": (403, "This URL was not created by this server, or was changed"),
    "media_address_over": (403, "This link has expired; fetch the message again"),
    "media_gone": (409, "This file is no longer stored; upload it again"),
    "message_too_long": (400, "A message has at most 4,000 characters"),
    "method_not_allowed": (405, "This address does not accept this method"),
    "nickname_taken": (409, "Another member has this name or a similar one"),
    "no_device": (409, "This device does not take part in private conversations yet"),
    "no_channel": (400, "This webhook has no channel to post to"),
    "not_found": (404, "There is nothing here"),
    "not_in_voice": (404, "This member is not in a voice channel that you can see"),
    "not_proved": (403, "This message could not be verified, so it cannot be reported"),
    "origin_refused": (403, "Pages of this site are not allowed to use this server"),
    "offset_mismatch": (409, "The offset differs from the number of received bytes. Continue at `offset`"),
    "owner_must_stay": (409, "Transfer ownership to another member first"),
    "private_refused": (403, "You cannot write to this member"),
    "profanity_refused": (400, "This text contains words that the server does not allow"),
    "proof_invalid": (401, "The proof of identity is not valid"),
    "quota_exceeded": (403, "You have reached the storage limit for one member. Delete some files first"),
    "range_not_satisfiable": (416, "The requested range is outside the file"),
    "rank_too_low": (403, "You need a higher role to do this"),
    "rate_limited": (429, "Too many requests; try again later"),
    "refresh_invalid": (401, "The refresh token is not valid or has expired; sign in again"),
    "rule_refused": (400, "A rule of this server blocked this message"),
    "rules_not_accepted": (403, "Accept the rules of this server first"),
    "sealing_differs": (409, "Only clients that encrypt can join an encrypted channel. Reload the page"),
    "search_busy": (503, "Too many searches are running; try again in a moment"),
    "search_running": (429, "Your last search is still running; try again when it is done"),
    "search_too_long": (400, "This search takes too long. Use fewer or less common words"),
    "server_full": (403, "This server has reached its member limit"),
    "server_stopping": (503, "The server is stopping; try again in a moment"),
    "slow_mode": (429, "This channel is in slow mode; wait before your next message"),
    "storage_full": (507, "The server is out of storage. Try again later"),
    "storage_unavailable": (
        503,
        "The server cannot store anything right now. Nothing was changed; try again later",
    ),
    "token_invalid": (401, "The access token is not valid or has expired"),
    "too_many": (409, "The limit has been reached"),
    "too_many_blocks": (409, "You have reached the limit of blocked members"),
    "too_many_connections": (503, "The server has reached its limit of connections. Try again in a moment"),
    "too_many_devices": (409, "You have reached the device limit; unlink one first"),
    "too_many_invite_attempts": (429, "Too many wrong invite codes; try again later"),
    "too_many_requests": (429, "Too many requests; try again later"),
    "too_many_waiting": (429, "Too many people are waiting for approval; try again later"),
    "too_slow": (408, "The request took too long to arrive"),
    "tus_version": (412, "This server speaks tus 1.0.0 only"),
    "unknown_application": (404, "No request to join has this id"),
    "unknown_backup": (404, "There is no such backup"),
    "unknown_ban": (404, "There is no such ban"),
    "unknown_channel": (404, "There is no such channel"),
    "unknown_conversation": (404, "There is no such conversation"),
    "unknown_device": (404, "You have no such device"),
    "unknown_emoji": (404, "There is no such emoji"),
    "unknown_event": (400, "There is no such event"),
    "unknown_file": (404, "This file no longer exists"),
    "unknown_invite": (404, "There is no such invite"),
    "unknown_job": (404, "No failed job has this id"),
    "unknown_linked_account": (404, "There is no such linked account"),
    "unknown_member": (404, "There is no such member"),
    "unknown_message": (404, "There is no such message"),
    "unknown_report": (404, "There is no such report"),
    "unknown_role": (404, "There is no such role"),
    "unknown_rule": (404, "There is no such rule"),
    "unknown_webhook": (404, "There is no such webhook"),
    "unsupported_encoding": (415, "Compressed requests are not accepted. Leave out Content-Encoding"),
    "unsupported_type": (400, "Only PNG, JPEG, WebP and GIF pictures are accepted"),
    "unknown_upload": (404, "You have no such upload, or it has already been used"),
    "upload_busy": (423, "Another request is sending this upload right now. Wait until it ends"),
    "upload_complete": (409, "This upload is already complete"),
    "upload_cut_short": (400, "The upload is incomplete"),
    "upload_not_done": (409, "This upload is still being processed"),
    "upload_too_large": (413, "The file is too large"),
    "uploads_disabled": (503, "This server does not accept uploads"),
    "voice_full": (409, "The voice channels of this server are full"),
    "voice_unavailable": (503, "The voice server cannot be reached right now"),
    "wrong_content_type": (415, "The Content-Type is not the one that this endpoint accepts"),
}


CODES = tuple(_CODES)


def status_of(code: str) -> int:
    return _CODES[code][0]


class ChatError(Exception):
    """An error response to a client's request."""

    def __init__(self, code: str, message: str = "", more: Mapping[str, object] | None = None) -> None:
        """Create an error. `more` contains additional fields for the response body."""
        self.status, usual = _CODES[code]
        self.code = code
        self.message = message or usual
        self.more = more or {}
        super().__init__(code)

    def body(self) -> dict[str, object]:
        return {"error": self.code, "message": self.message, **self.more}


def from_status(status: int) -> ChatError:
    """Return the ChatError that corresponds to an HTTP error status."""
    if status < 500:
        for code in ("not_found", "method_not_allowed", "body_too_large"):
            if _CODES[code][0] == status:
                return ChatError(code)
        return ChatError("invalid_request")
    return ChatError("internal_error")
