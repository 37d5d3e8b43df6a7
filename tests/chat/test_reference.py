"""`GET /reference` lists every request, event, object and error, and every endpoint except those for
browsers, which are listed in docs/.
"""

import re
from html import unescape
from pathlib import Path

from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS
from svc.chat.errors import CODES
from svc.chat.live.sign_in import FIRST_EVENTS
from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.reference import POLICY, reference
from svc.chat.settings.endpoints import management
from tests.chat.chat_server import ChatServer

DOCS = Path(__file__).parents[2] / "docs"
PAGE = reference(feature_descriptions(), "1.0.0")


def entries() -> list[str]:
    """Return the headings of the entries, such as `GET /info`."""
    headings = re.findall(r"<h3 [^>]*>(.*?)</h3>", PAGE)
    return [unescape(re.sub(r"<[^>]+>", "", heading)) for heading in headings]


def test_every_endpoint_is_in_the_reference_or_in_a_document() -> None:
    listed = [entry for entry in entries() if re.match("(GET|POST|PUT|PATCH|DELETE) /", entry)]
    routes = {endpoint.route for endpoint in management()}
    assert len(listed) == len(set(listed))
    assert set(listed) <= {*ENDPOINTS, *routes}
    documents = "".join((DOCS / f"{name}.md").read_text() for name in ("cluster", "http", "webhooks"))
    missing = {*ENDPOINTS, *routes} - set(listed)
    assert [route for route in missing if route not in documents] == []


def test_every_live_socket_request_and_event_is_in_the_reference() -> None:
    pushes = [push.name for feature in feature_descriptions().values() for push in feature.pushes]
    assert sorted(entry for entry in entries() if entry.startswith("request ")) == sorted(
        f"request {name}" for name in EVENTS
    )
    assert sorted(entry for entry in entries() if entry.startswith("event ")) == sorted(
        f"event {name}" for name in pushes
    )
    # The first frames on a socket are not members' requests.
    assert all(f"`{name} " in (DOCS / "live.md").read_text() for name in FIRST_EVENTS)


def test_every_link_in_the_reference_has_a_target() -> None:
    targets = re.findall(r' id="([^"]+)"', PAGE)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', PAGE)) <= set(targets)
    assert {f"error-{code}" for code in CODES} <= set(targets)


async def test_the_reference_runs_no_scripts(chat: ChatServer) -> None:
    async with chat.http.get("/reference") as answer:
        assert (answer.status, answer.content_type) == (200, "text/html")
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert "<script" not in await answer.text()
