"""Checks that the documentation matches the code: variables, events, close codes, metrics, packages and
files.
"""

import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from svc.base import server_events
from svc.base.database import Database
from svc.base.metrics import Registry
from svc.base.signalling_codec import Payload
from svc.chat import config as chat_config
from svc.chat.cluster.measurements import DESCRIPTIONS
from svc.chat.cluster.measurements import measure as measure_node
from svc.chat.community import Community  # noqa: F401 - importing it declares the requests of all features
from svc.chat.live.frames import CloseCode as LiveCloseCode
from svc.chat.media.sweep import SweepCounts
from svc.chat.server_status.measurements import RequestCounts, measurements
from svc.chat.uploads.measurements import measure as measure_uploads
from svc.chat.uploads.queue import Queue
from svc.cli import parser
from svc.sfu import client_events
from svc.sfu import config as sfu_config
from svc.sfu.close_codes import CloseCode
from svc.sfu.control import Control
from svc.sfu.measurements import _CORE_COUNTERS, _SESSION_COUNTERS, MeasuredPlane, Measurements
from svc.sfu.session import Session
from svc.sfu.sfu import Sfu
from svc.tools.bench.attack.catalogue import ATTACKS
from svc.worker import config as worker_config
from svc.worker.measurements import Measurements as WorkerMeasurements
from tests.kit.architecture import SUFFIXES
from tests.kit.markdown import rows
from tests.test_layers import ARCHITECTURE as LAYERS
from tests.test_layers import CHAT_LAYERS

REPOSITORY = Path(__file__).parent.parent
DOCS = REPOSITORY / "docs"
PACKAGE = REPOSITORY / "src/svc"

REQUIRED = {
    "JWT_SECRET": "a secret of at least thirty-two bytes",
    "SFU_WS_HOST": "sfu:5005",
    "SERVER_ID": "one",
    "SERVER_PASSWORD": "two",
}
CONFIGURED: dict[str, Callable[[Mapping[str, str]], object]] = {
    "SFU": sfu_config.Config.read,
    "Chat server": chat_config.read,
    "Media worker": worker_config.read,
}


class Recording(dict[str, str]):
    """A mapping of environment variables that records which variables have been read."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.names_read: set[str] = set()

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.names_read.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.names_read.add(name)
        return super().__getitem__(name)


def test_every_test_cited_in_a_document_exists() -> None:
    sources = [path.read_text() for path in (REPOSITORY / "tests").rglob("*.py")]
    tests = {name for text in sources for name in re.findall(r"def (test_\w+)\(", text)}
    named = {
        name
        for path in (*DOCS.glob("*.md"), *REPOSITORY.glob("*.md"))
        for name in re.findall(r"`(test_\w+)`", path.read_text())
    }
    assert named - tests - {path.stem for path in (REPOSITORY / "tests").rglob("test_*.py")} == set()


@pytest.mark.parametrize("program", CONFIGURED)
def test_the_documented_variables_are_exactly_those_that_the_program_reads(program: str) -> None:
    variables = Recording(REQUIRED)
    CONFIGURED[program](variables)
    documented = {name for row in rows(DOCS / "configuration.md", program) for name in row.code(0)}
    assert documented == variables.names_read


@pytest.mark.parametrize("program", CONFIGURED)
def test_the_documented_defaults_are_the_actual_defaults(program: str) -> None:
    read = CONFIGURED[program]
    for row in rows(DOCS / "configuration.md", program):
        for default in row.code(1):
            if default not in REQUIRED:
                assert read({**REQUIRED, row.code(0)[0]: default}) == read(REQUIRED), row


def test_the_layers_in_architecture_md_are_the_enforced_layers() -> None:
    layers = rows(REPOSITORY / "ARCHITECTURE.md", "Layers")
    assert {row.code(0)[0]: _layers_named(row.code(1)) for row in layers} == {
        layer: below for layer, below in LAYERS.layers.items() if layer != LAYERS.package
    }


def test_the_chat_servers_documented_layers_are_the_enforced_layers() -> None:
    layers = rows(REPOSITORY / "ARCHITECTURE.md", "Chat layers")
    assert {row.cells[0]: tuple(row.code(2)) for row in layers} == CHAT_LAYERS
    assert [row.cells[0] for row in layers] == list(CHAT_LAYERS)


def _layers_named(words: list[str]) -> frozenset[str]:
    return frozenset(word for word in words if word in LAYERS.layers and word != LAYERS.package)


def test_architecture_md_names_exactly_the_existing_packages() -> None:
    listed_packages = {
        row.code(0)[0] for row in rows(REPOSITORY / "ARCHITECTURE.md", "Packages") if row.code(0)
    }
    packages = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")}
    folders = {f"{package}/" for package in packages if package != "."} | {"chat/schema/", "web/"}
    assert listed_packages - {"src/svc/"} == folders


def test_every_path_in_architecture_md_exists() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    paths = set(re.findall(r"`([a-z_]+(?:/[a-z_.]+)+)`", text))
    paths |= {path.replace(".", "/") for path in re.findall(r"`((?:base|sfu|chat)\.[a-z_.]+)`", text)}
    roots = (REPOSITORY, PACKAGE, PACKAGE / "web")
    suffixes = ("", ".py", ".pyx", ".pxd", ".js")
    assert [
        path
        for path in sorted(paths)
        if not any((root / f"{path}{suffix}").exists() for root in roots for suffix in suffixes)
    ] == []
    assert len(paths) > 50


# ARCHITECTURE.md also puts these events and functions in parentheses, where it otherwise lists modules.
_NOT_MODULES = {"exclusive_write", "shared_write", "peer_joined", "peer_left", "voice_joined", "voice_left"}


def test_every_module_in_parentheses_in_architecture_md_exists() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    lists = re.findall(r"\(((?:`[a-z_./]+`(?:,?\s+and\s+|,\s+)?)+)\)", text)
    listed_modules = {name for names in lists for name in re.findall(r"`([a-z_]+)`", names)}
    modules = {path.stem for path in PACKAGE.rglob("*.py*")} | {path.name for path in PACKAGE.rglob("*/")}
    assert listed_modules - modules - _NOT_MODULES == set()
    assert len(listed_modules) > 10


# Matches `docs/http.md, "Uploads"`, even if a comment splits it over two lines.
_CITATION = re.compile(
    r'\b((?:docs/[\w-]+|ARCHITECTURE|CONTRIBUTING|README)\.md)(?:,\s+(?:# |// )?"([^"]+)")?'
)
_OUTSIDE = re.compile(
    r"(?:chat|media)\s+document\b|\bthe\s+design's\b|\bspec(?:ification)?'s\b|\bdesign:|\bspec\s+section\b",
    re.IGNORECASE,
)


def test_every_cited_document_is_in_the_repository() -> None:
    folders = [PACKAGE, REPOSITORY / "tests", REPOSITORY / "benchmarks"]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in {*SUFFIXES, ".js"}]
    sources = {path: path.read_text(encoding="utf-8") for path in paths if path != Path(__file__)}
    assert [path for path, source in sources.items() if _OUTSIDE.search(source)] == []
    cited = {(path, *citation) for path, source in sources.items() for citation in _CITATION.findall(source)}
    assert [
        f"{path}: {document} {heading}"
        for path, document, heading in cited
        if not (REPOSITORY / document).exists()
        or (heading and " ".join(heading.split()) not in _headings(document))
    ] == []


@cache
def _headings(document: str) -> set[str]:
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    return set(re.findall(r"^#+ (.+)$", text, re.MULTILINE))


def test_the_readme_names_every_package() -> None:
    listed_packages = {row.code(0)[0] for row in rows(REPOSITORY / "README.md", "Reading guide")}
    packages = {
        f"src/svc/{path.name}" for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert listed_packages == {*packages, "tests"}


def test_every_close_code_is_documented() -> None:
    table = rows(DOCS / "signalling.md", "Why a WebSocket is closed")
    assert {row.code(1)[0]: int(row.cells[0]) for row in table} == {code.name: code for code in CloseCode}


def _events_of(module: ModuleType) -> set[type[Payload]]:
    return {
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Payload) and hasattr(value, "event")
    }


_BOTH_WAYS: set[type[Payload]] = {server_events.KeepAlive, client_events.IceCandidate}
_FIRST: set[type[Payload]] = {client_events.ClientJoin, client_events.ClientResume}
_TAKEN: dict[str, set[type[Payload]]] = {
    "From the chat server": {kind for kind, _ in Control.handlers.values()},
    "From participants": {kind for kind, _ in Session.handlers.values()} | _FIRST,
}
_SENT = {
    "To the chat server": _events_of(server_events) - _TAKEN["From the chat server"]
    | _BOTH_WAYS - {client_events.IceCandidate},
    "To participants": _events_of(client_events) - _TAKEN["From participants"] | _BOTH_WAYS,
}


@pytest.mark.parametrize(("section", "events"), (_TAKEN | _SENT).items())
def test_every_sfu_event_is_documented_with_its_fields(section: str, events: set[type[Payload]]) -> None:
    table = {row.code(0)[0]: row.cells[1] for row in rows(DOCS / "signalling.md", section)}
    # `room_error` is a bare string, so it has no payload type.
    if section == "To participants":
        del table["room_error"]
    assert set(table) == {kind.event for kind in events}
    for kind in events:
        # The table describes the other payloads in prose.
        if table[kind.event].startswith("`{"):
            documented = _field_names(table[kind.event].split("`")[1])
            # According to the table, a client may send `mid` instead of `track_id`.
            assert documented == set(kind.__struct_fields__) - {"mid"}, kind.event


def _field_names(payload: str) -> set[str]:
    """Return the names in `{name, name?, name: {…}}`, excluding those in nested objects."""
    flat = payload[1:-1]
    while (shorter := re.sub(r"[\[{][^\[\]{}]*[\]}]", "", flat)) != flat:
        flat = shorter
    return {re.split(r"[?:]", field.strip())[0] for field in flat.split(",") if field}


def test_every_command_is_documented() -> None:
    documented = [row.code(0)[0] for row in rows(DOCS / "operations.md", "Every command")]
    assert sorted(documented) == sorted(_commands(parser()))


def _commands(parser: ArgumentParser) -> list[str]:
    """Return all commands of `svc`, such as `svc admin webhook create`."""
    below = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    inner = [
        command for action in below for choice in action.choices.values() for command in _commands(choice)
    ]
    return inner if below else [re.sub(r" \S*[A-Z]\S*", "", parser.prog)]


def test_every_live_socket_close_code_is_documented() -> None:
    table = rows(DOCS / "live.md", "Why a socket is closed")
    assert {row.code(1)[0]: int(row.cells[0]) for row in table} == {code.name: code for code in LiveCloseCode}


def test_every_metric_is_documented() -> None:
    plane = SimpleNamespace(
        delay_buckets=(0.001,),
        encryption={},
        port=3478,
        serves_tcp=True,
        statistics=dict,
        forwarding_delay=lambda: ((0, 0), 0.0),
    )
    sfu = SimpleNamespace(tally={})
    link = SimpleNamespace(synchronised=False)
    exposition = Measurements(cast(Sfu, sfu), cast(MeasuredPlane, plane)).exposition()[0]
    database = SimpleNamespace(
        group_buckets=(1,),
        commit_buckets=(1,),
        sqlite_version="3",
        log_bytes=lambda: 0,
        statistics=SimpleNamespace(
            writes=0, failed_writes=0, group_sizes=(0, 0), commit_times=(0, 0), commit_seconds=0.0
        ),
    )
    exposition += measurements((), (), (), link, cast(Database, database), RequestCounts()).exposition()[0]
    registry = Registry()
    measure_node(registry, lambda: dict.fromkeys(DESCRIPTIONS, 0.0))
    queue = SimpleNamespace(waiting=0, dead=0, outcomes={})
    measure_uploads(registry, cast(Queue, queue), SweepCounts(), lambda: False, {})
    exposition += registry.exposition()[0]
    exposition += WorkerMeasurements().registry.exposition()[0]
    exposed = set(re.findall(r"^# TYPE (svc_\w+) ", exposition.decode(), re.MULTILINE))
    documented = [
        row.code(0)[0]
        for section in ("SFU metrics", "Chat server metrics", "Media worker metrics")
        for row in rows(DOCS / "configuration.md", section)
    ]
    assert sorted(documented) == sorted(exposed)


def test_every_sfu_counter_is_documented_with_the_description_from_the_code() -> None:
    table = {row.code(0)[0]: row.cells[1] for row in rows(DOCS / "configuration.md", "SFU metrics")}
    counters = {
        f"svc_sfu_{name}_total": words for name, words in (_SESSION_COUNTERS | _CORE_COUNTERS).items()
    }
    assert table.items() >= counters.items()


def test_every_test_file_cited_in_security_md_exists() -> None:
    paths = re.findall(r"`(tests/[\w/]+\.py)`", (DOCS / "security.md").read_text())
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
    # A minimum number proves that the pattern still matches.
    assert len(paths) > 50


def test_every_attack_in_the_benchmark_has_a_row_in_security_md() -> None:
    measured = [name for row in rows(DOCS / "security.md", "Attacks, measured") for name in row.code(0)]
    assert measured == [attack.name for attack in ATTACKS]


def test_every_rtcp_type_in_the_core_has_a_row_in_the_document() -> None:
    enum = (PACKAGE / "_rtp/rtcp.pxd").read_text().split("cdef enum:")[1].split("cdef struct")[0]
    types = set(re.findall(r"^    (\w+) = ", enum, re.MULTILINE)) - {"RTPFB", "PSFB", "MAX_RTCP"}
    documented = {row.code(0)[0] for row in rows(DOCS / "rtcp.md", "What arrives") if row.code(0)}
    assert documented == types


def test_every_benchmark_is_described_with_its_claim() -> None:
    scripts = {
        path.stem for path in (REPOSITORY / "benchmarks").glob("*.py") if "__main__" in path.read_text()
    }
    claims = (REPOSITORY / "benchmarks" / "README.md").read_text()
    assert scripts - {"build"} == set(re.findall(r"`python -m benchmarks\.(\w+)", claims))
