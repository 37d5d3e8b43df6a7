"""What signing in and devices say of themselves, for people and for programs."""

from svc.chat.access.tokens import LIFETIME_S
from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.joining.proof import MAX_TOKEN_CHARACTERS, TIERS
from svc.chat.joining.refresh import MAX_TOKEN_CHARACTERS as MAX_REFRESH_TOKEN_CHARACTERS
from svc.chat.joining.routes import (
    LEAST_VERIFIER_CHARACTERS,
    MAX_ADDRESS_CHARACTERS,
    MAX_AUTHORIZATION_CODE_CHARACTERS,
    MAX_CODE_CHARACTERS,
    MAX_DEVICE_NAME_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_VERIFIER_CHARACTERS,
)

_TOKEN = string(MAX_TOKEN_CHARACTERS)
_CODE = string(MAX_CODE_CHARACTERS)
_TOKENS: dict[str, Schema] = {
    "access_token": string(),
    "refresh_token": string(),
    "expires_in_ms": integer(0, LIFETIME_S * 1000),
}
_MEMBER = obj(
    {
        "id": ID,
        "nickname": string(),
        "roles": array(ID),
        "timeout_until_ms": nullable(TIME_MS),
        "joined_at_ms": TIME_MS,
        "avatar": nullable(string()),
        "status_text": string(),
        "bot": BOOLEAN,
    }
)
_DEVICE = Named(
    "Device",
    obj(
        {
            "id": ID,
            "name": string(MAX_DEVICE_NAME_CHARACTERS),
            "tier": choice(*TIERS),
            "current": BOOLEAN,
            "added_at_ms": TIME_MS,
            "last_seen_at_ms": TIME_MS,
        }
    ),
)
_HANDED_OUT = obj({"code": string(), "expires_at_ms": TIME_MS})
_REFRESH = asked({}, {"refresh_token": string(MAX_REFRESH_TOKEN_CHARACTERS)})

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "POST /api/auth/challenge",
            "A nonce to sign in with, good once and for five minutes",
            answer=obj(
                {
                    "nonce": string(),
                    "audience": string(),
                    "identityTiers": array(choice(*TIERS)),
                    "expiresAt": TIME_MS,
                }
            ),
        ),
        Endpoint(
            "GET /api/auth/provider",
            "Where to send a person who signs in with an account",
            answer=obj({"issuer": string(), "authorization_endpoint": string(), "client_id": string()}),
            refusals=["identity_tier_refused", "issuer_unavailable"],
        ),
        Endpoint(
            "POST /api/auth/exchange",
            "The id_token for a code that the provider of accounts sent back",
            body=asked(
                {
                    "code": string(MAX_AUTHORIZATION_CODE_CHARACTERS, 1),
                    "code_verifier": string(MAX_VERIFIER_CHARACTERS, LEAST_VERIFIER_CHARACTERS),
                    "redirect_uri": string(MAX_ADDRESS_CHARACTERS, 1),
                }
            ),
            answer=obj({"id_token": _TOKEN}),
            refusals=[*("identity_tier_refused", "issuer_unavailable", "proof_invalid", "too_many_requests")],
        ),
        Endpoint(
            "POST /api/auth/join",
            "Sign in by a certificate or an id_token, and an assertion; or become a member by it",
            body=asked(
                {"assertion": _TOKEN},
                {
                    "certificate": _TOKEN,
                    "id_token": _TOKEN,
                    # Its own rules refuse what is longer than a name may be.
                    "nickname": string(),
                    "invite_code": _CODE,
                    "link_code": _CODE,
                    "recovery_code": _CODE,
                    "device_name": string(MAX_DEVICE_NAME_CHARACTERS),
                    "message": string(MAX_MESSAGE_CHARACTERS),
                    "rules_accepted": _CODE,
                },
            ),
            answer=obj({**_TOKENS, "member": _MEMBER, "channel_id": nullable(ID)}),
            refusals=[
                *("approval_pending", "approval_refused", "rules_not_accepted", "too_many_waiting"),
                *("banned", "challenge_invalid", "code_invalid", "identity_taken", "identity_tier_refused"),
                *("invite_busy", "too_many_invite_attempts"),
                *("invalid_nickname", "invite_invalid", "invite_required", "issuer_unavailable"),
                *(
                    "joins_disabled",
                    "profanity_refused",
                    "proof_invalid",
                    "server_full",
                    "too_many_devices",
                    "too_many_requests",
                ),
            ],
        ),
        Endpoint(
            "POST /api/auth/refresh",
            "Fresh tokens; the refresh token is used up by it",
            body=_REFRESH,
            answer=obj(_TOKENS),
            refusals=["refresh_invalid", "too_many_requests"],
        ),
        Endpoint(
            "POST /api/auth/logout",
            "End this sign-in; nothing happens for a token that is worth nothing",
            body=_REFRESH,
        ),
        Endpoint("GET /api/me/devices", "One's own devices", answer=obj({"devices": array(_DEVICE)})),
        Endpoint(
            "POST /api/me/devices/link",
            "A code by which another device signs in as this member, once and within ten minutes",
            status=201,
            answer=_HANDED_OUT,
        ),
        Endpoint(
            "DELETE /api/me/devices/{device_id}",
            "Unlink a device; all others sign in again by their refresh tokens",
            refusals=["last_device", "unknown_device"],
        ),
        Endpoint(
            "POST /api/members/{member_id}/recovery",
            "A code by which whoever lost all devices signs in, once and within a day; it unlinks the others",
            status=201,
            answer=_HANDED_OUT,
            refusals=["unknown_member"],
        ),
    ],
    pushes=[
        Pushed("device_linked", "Another device signs in as you now", obj({"device": _DEVICE}), "the member"),
        Pushed("device_unlinked", "A device of yours was unlinked", obj({"device_id": ID}), "the member"),
    ],
)
