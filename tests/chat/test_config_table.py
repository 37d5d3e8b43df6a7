"""Checks the default, bounds and aliases of every documented environment variable.

The table below mirrors the table in docs/configuration.md, "Chat server".
"""

from collections.abc import Mapping
from operator import attrgetter

import pytest

from svc.base.config_parsing import DEFAULT_STUN_SERVER, ConfigError
from svc.chat.config import read

REQUIRED = {
    "JWT_SECRET": "a secret of at least thirty-two bytes",
    "SFU_WS_HOST": "sfu:5005",
    "SERVER_ID": "one",
    "SERVER_PASSWORD": "two",
}

# Each row has the variable, the field for its value, the default, and example settings with their parsed
# values. None means an error.
TABLE: list[tuple[str, str, object, Mapping[str, object]]] = [
    ("MAX_MEMBERS", "max_members", 100, {"5": 5, "0": None, "many": None}),
    ("VOICE_MAX_USERS", "voice_max_users", 0, {"0": 0, "12": 12, "-1": None}),
    ("SVC_INVITE_MAX_JOINS_PER_HOUR", "invites.joins_per_hour", None, {"3": 3, "x": None}),
    ("SVC_SERVER_ICON_MAX_MB", "uploads.icon_max_mb", 25, {"3": 3, "0": None, "1.5": None}),
    ("SERVER_ICON_MAX_MB", "uploads.icon_max_mb", 25, {"4": 4, "-4": None}),
    ("SVC_FILE_MAX_MB", "uploads.file_max_mb", 100, {"0": 0, "1024": 1024, "1025": None, "-1": None}),
    (
        "SVC_FILE_EXTENSIONS",
        "uploads.file_extensions",
        (),
        {"pdf, .ZIP": ("pdf", "zip"), "": (), "../x": None, "a b": None},
    ),
    ("MESSAGE_CACHE_TTL_MS", "message_cache_ttl_ms", 30_000, {"0": 0, "500": 500, "-1": None}),
    ("SVC_LINK_PREVIEWS", "link_previews", True, {"false": False, "true": True}),
    ("REFRESH_TOKEN_TTL_DAYS", "identity.refresh_ttl_days", 7, {"30": 30, "0": None}),
    (
        "MLS_RETENTION_DAYS",
        "mls_retention_days",
        30,
        {"7": 7, "30": 30, "31": 30, "9999999999": 30, "0": 30, "-3": 30, "2.5": 30, "a week": 30, "٣": 30},
    ),
    ("SERVER_INVITE_MAX_RETRIES", "invites.max_retries", 8, {"3": 3, "x": None}),
    ("SERVER_INVITE_RETRY_WINDOW_MS", "invites.retry_window_ms", 300_000, {"1000": 1000, "-1": None}),
    ("SERVER_INVITE_IP_MAX_RETRIES", "invites.ip_max_retries", None, {"20": 20, "x": None}),
    ("SERVER_INVITE_RETRY_COOLDOWN_MS", "invites.cooldown_ms", None, {"60000": 60_000, "x": None}),
    ("SERVER_INVITE_MAX_COOLDOWN_MS", "invites.max_cooldown_ms", None, {"3600000": 3_600_000, "x": None}),
    ("MEDIA_SWEEP_INTERVAL_MS", "uploads.sweep_interval_ms", 600_000, {"1000": 1000, "0": None}),
    ("MEDIA_SWEEP_GRACE_MS", "uploads.sweep_grace_ms", 1_800_000, {"0": 0, "-1": None}),
    (
        "EMOJI_QUEUE_CONCURRENCY",
        "uploads.emoji_concurrency",
        1,
        {"0": 1, "-7": 1, "2": 2, "4": 4, "5": 4, "99999": 4, "two": None},
    ),
    (
        "EMOJI_QUEUE_POLL_MS",
        "uploads.emoji_poll_ms",
        750,
        {"0": 250, "249": 250, "250": 250, "1000": 1000, "5000": 5000, "5001": 5000, "": 750},
    ),
    ("SVC_TRUSTED_PROXY_HOPS", "trusted_proxy_hops", 0, {"2": 2, "-1": None, "17": None}),
    ("SERVER_NAME", "server_name", "", {"Home": "Home"}),
    ("SERVER_DESCRIPTION", "server_description", "", {"Where we meet": "Where we meet"}),
    ("HOST", "host", "127.0.0.1", {"0.0.0.0": "0.0.0.0"}),
    ("PORT", "port", 5000, {"0": 0, "65535": 65535, "65536": None}),
    ("JWT_SECRET", "jwt_secret", REQUIRED["JWT_SECRET"], {"s" * 32: "s" * 32, "s" * 31: None, "": None}),
    ("DATA_DIR", "data_dir.name", "data", {"/srv/chat": "chat"}),
    (
        "CORS_ORIGIN",
        "allowed_origins",
        [],
        {
            "https://a, https://b": ["https://a", "https://b"],
            "HTTPS://Chat.Example:443/": ["https://chat.example"],
            "*": ["*"],
            "chat.example": None,
            "https://chat.example/page": None,
        },
    ),
    ("SFU_WS_HOST", "media.url", "ws://sfu:5005", {"wss://m": "wss://m", "ftp://m": None}),
    ("SFU_PUBLIC_HOST", "media.public_urls", [], {"media.example": ["wss://media.example"]}),
    ("SFU_ROOM_SIZE", "media.room_size", 0, {"50": 50}),
    (
        "STUN_SERVERS",
        "media.stun_servers",
        [f"stun:{DEFAULT_STUN_SERVER}"],
        {
            "a:1,stun:b:2": ["stun:a:1", "stun:b:2"],
            "": [],
            "[2001:db8::1]:5": ["stun:[2001:db8::1]:5"],
            "nonsense::": None,
        },
    ),
    (
        "DISABLE_STUN",
        "media.stun_servers",
        [f"stun:{DEFAULT_STUN_SERVER}"],
        {"true": [], "perhaps": [f"stun:{DEFAULT_STUN_SERVER}"]},
    ),
    ("STORAGE_BACKEND", "uploads.storage.backend", "s3", {"filesystem": "filesystem", "tape": None}),
    ("S3_ENDPOINT", "uploads.storage.s3.endpoint", "", {"https://s3:9000/": "https://s3:9000", "s3": None}),
    ("S3_BUCKET", "uploads.storage.s3.bucket", "", {"files": "files", "..": None, "a/b": None}),
    ("S3_REGION", "uploads.storage.s3.region", "", {"eu": "eu"}),
    ("S3_ACCESS_KEY_ID", "uploads.storage.s3.access_key_id", "", {"me": "me"}),
    ("S3_SECRET_ACCESS_KEY", "uploads.storage.s3.secret_access_key", "", {"hush": "hush"}),
    ("S3_FORCE_PATH_STYLE", "uploads.storage.s3.force_path_style", False, {"true": True, "1": True}),
    ("DISABLE_S3", "uploads.storage.disabled", False, {"true": True}),
    ("IMAGE_WORKER_URL", "uploads.worker_url", "", {"http://worker:1": "http://worker:1", "http://": None}),
    ("SERVER_DISCOVERABLE", "discoverable", False, {"true": True, "off": False}),
    ("MDNS_INTERFACE", "operating.mdns_interface", "", {"eth0": "eth0"}),
    (
        "EXTERNAL_HOST",
        "identity.names",
        (),
        {
            "chat.example": ("chat.example",),
            "chat.example:8443, 192.0.2.1, [2001:db8::1]:8443": (
                "chat.example:8443",
                "192.0.2.1",
                "[2001:db8::1]:8443",
            ),
            "2001:db8::1": ("2001:db8::1",),
            "https://chat.example": None,
            "chat.example/": None,
            "chat.example:port": None,
            "chat example": None,
        },
    ),
    ("SERVER_ID", "media.server_id", "one", {"home": "home", "": None}),
    ("SERVER_INSTANCE_ID", "operating.instance_id", "", {"first": "first"}),
    ("SERVER_PASSWORD", "media.server_password", "two", {"hush": "hush", "": None}),
    ("SERVER_VERSION", "operating.version", "", {"1.6.0": "1.6.0"}),
    ("VOICE_CHANNEL_ID", "first_channels", None, {}),
    ("VOICE_CHANNEL_NAME", "first_channels", None, {}),
    ("ADDITIONAL_CHANNELS", "first_channels", None, {}),
    ("NODE_ENV", "operating.runtime_mode", "", {"production": "production"}),
    ("SVC_ADMIN_TOKEN", "operating.admin_token", "", {"hush": "hush"}),
    ("SVC_ADMIN_PORT", "operating.admin_port", 5099, {"0": 0, "70000": None}),
    ("SVC_IDENTITY_TIERS", "identity.tiers", ("account",), {"account,local": ("account", "local")}),
    ("SVC_OIDC_ISSUER", "identity.oidc_issuer", "", {}),
    ("SVC_OIDC_AUDIENCE", "identity.oidc_audience", "", {"us": "us"}),
    ("SVC_OIDC_CLIENT_SECRET", "identity.oidc_client_secret", "", {"hush": "hush"}),
    ("SVC_TRUSTED_CERT_ISSUERS", "identity.cert_issuers", [], {"https://ca": ["https://ca"]}),
    ("SVC_SERVER_ENABLED", "identity.closed", "", {"true": ""}),
    ("SVC_AUTH_MODE", "identity.closed", "", {"required": ""}),
]


@pytest.mark.parametrize(("variable", "field", "default", "settings"), TABLE, ids=[row[0] for row in TABLE])
def test_the_configuration_table_matches_the_code(
    variable: str, field: str, default: object, settings: Mapping[str, object]
) -> None:
    if field != "first_channels":
        assert attrgetter(field)(read(REQUIRED)) == default
    for value, meaning in settings.items():
        variables = {**REQUIRED, variable: value}
        if meaning is None:
            with pytest.raises(ConfigError, match=variable):
                read(variables)
        else:
            assert attrgetter(field)(read(variables)) == meaning, value


def test_the_newer_name_of_the_icon_size_limit_takes_precedence() -> None:
    both = {"SVC_SERVER_ICON_MAX_MB": "5", "SERVER_ICON_MAX_MB": "7"}
    assert read({**REQUIRED, **both}).uploads.icon_max_mb == 5


def test_variables_define_the_initial_channels() -> None:
    overrides = {
        "VOICE_CHANNEL_ID": "stage",
        "VOICE_CHANNEL_NAME": "The Stage",
        "ADDITIONAL_CHANNELS": "news, voice:Attic",
    }
    channels = [
        (channel.id, channel.name, channel.kind) for channel in read(REQUIRED | overrides).first_channels
    ]
    assert channels == [
        ("general", "general", "text"),
        ("stage", "The Stage", "voice"),
        ("news", "news", "text"),
        ("attic", "Attic", "voice"),
    ]


def test_printed_configuration_contains_no_secrets() -> None:
    names = ("SVC_ADMIN_TOKEN", "S3_SECRET_ACCESS_KEY", "SVC_OIDC_CLIENT_SECRET")
    hushed = dict.fromkeys(names, "hush-hush")
    assert "hush-hush" not in repr(read(REQUIRED | hushed))
