"""Our refusals in the words of Discord and of Slack, so that their tools understand them.

What there is no word for keeps our status and message. Decides nothing, and knows no HTTP library.
Discord's documentation: "Opcodes and Status Codes", "Rate Limits"; Slack's: "Handling errors" of
incoming webhooks.
"""

from collections.abc import Mapping

from svc.chat.errors import ChatError
from svc.chat.webhooks.compatible.reading import Unreadable

# Status, code and message by our own code.
_DISCORD: Mapping[str, tuple[int, int, str]] = {
    "body_too_large": (413, 40005, "Request entity too large"),
    "empty_message": (400, 50006, "Cannot send an empty message"),
    "invalid_json": (400, 50109, "The request body contains invalid JSON."),
    "no_channel": (404, 10003, "Unknown Channel"),
    "not_found": (404, 10015, "Unknown Webhook"),
    "profanity_refused": (400, 200000, "Message was blocked by automatic moderation"),
    "rate_limited": (429, 0, "You are being rate limited."),
}
_UNREADABLE = (50035, "Invalid Form Body")

_SLACK: Mapping[str, tuple[int, str]] = {
    "body_too_large": (413, "invalid_payload"),
    "empty_message": (400, "no_text"),
    "invalid_json": (400, "invalid_payload"),
    "no_channel": (404, "channel_not_found"),
    "not_found": (404, "no_service"),
    "profanity_refused": (403, "action_prohibited"),
    "rate_limited": (429, "rate_limited"),
    "unsupported_encoding": (415, "invalid_payload"),
}
# Slack's word for what is its own fault.
_SLACK_FAULT = "rollup_error"


def discord(refusal: ChatError) -> tuple[int, dict[str, object]]:
    """Status and body."""
    status, code, message = _DISCORD.get(refusal.code, (refusal.status, 0, refusal.message))
    body: dict[str, object] = {"code": code, "message": message}
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        body |= {"retry_after": wait_ms / 1000, "global": False}
    return status, body


def discord_unreadable(fault: Unreadable) -> dict[str, object]:
    """The errors stand where the values do, as Discord nests them."""
    errors: dict[str, object] = {"_errors": [{"code": "BASE_TYPE_BAD", "message": fault.message}]}
    for step in reversed(fault.path):
        errors = {str(step): errors}
    code, message = _UNREADABLE
    return {"code": code, "message": message, "errors": errors}


def slack(refusal: ChatError) -> tuple[int, str]:
    """Status and word."""
    word = _SLACK_FAULT if refusal.status >= 500 else refusal.code
    return _SLACK.get(refusal.code, (refusal.status, word))


def slack_unreadable(fault: Unreadable) -> str:
    return "invalid_blocks" if "blocks" in fault.path else "invalid_payload"
