"""The published schema, the payload parser and the server accept the same payloads.

Hypothesis generates payloads near the limits, and schemathesis sends requests to a running server. The tests
check rules that a schema cannot express, such as the total length of all cards, separately.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from svc.chat.openapi.webhook_document import webhook_document
from svc.chat.webhooks.endpoints import PATH
from svc.chat.webhooks.payload import Payload, parse
from svc.chat.webhooks.publisher import Limiter
from svc.chat.webhooks.value_formats import COLOR, TIMESTAMP, URL
from tests.chat.webhooks.webhook_client import Hook

# The server, which runs in this process, uses random numbers, for example for retry delays. Hypothesis would
# report them as a flaw in its strategies.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

DOCUMENT = webhook_document({}, "1.0.0")
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$ref": "#/components/schemas/Message",
    "components": DOCUMENT["components"],
}
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)
# A rule that a schema cannot express.
UNSAYABLE = "total_too_long"

LENGTHS = (0, 1, 255, 256, 257, 1024, 1025, 2047, 2048, 2049, 4000, 4001)
TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from([" ", "\u3000\ufeff", "\0", "a\0", "\x1c", "\u200b", "\U0001f600" * 256]),
    st.sampled_from(LENGTHS).map(lambda length: "é" * length),
)
ADDRESSES = st.one_of(
    st.from_regex(URL, fullmatch=True),
    st.sampled_from([2047, 2048, 2049]).map(lambda length: "http://a/" + "a" * (length - 9)),
    st.sampled_from(["", "http://", "ftp://a", "http://a b", "http://a\u2028", "https://[::1]:65536", "//a"]),
    st.text("htps:/.@#?[]\\ 0", max_size=20).map(lambda host: "http://" + host),
)
MOMENTS = st.one_of(
    st.from_regex(TIMESTAMP, fullmatch=True),
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    st.text("0123456789-:T+Z. ", max_size=26),
)
COLORS = st.one_of(
    st.from_regex(COLOR, fullmatch=True),
    st.sampled_from(["#fff", "#00000g", -1, 0, 16_777_215, 16_777_216, 255.0, 0.5, True]),
    st.integers(-(2**62), 2**62),
)
ANYTHING = st.one_of(
    *(st.none(), st.booleans(), st.integers(-5, 5), st.just(1.5), TEXTS, st.just([]), st.just({}))
)


def mostly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(strategy, strategy, strategy, strategy, ANYTHING)


def objects(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = {name: mostly(part) for name, part in parts.items()}
    return st.fixed_dictionaries({}, optional={**keys, "unknown": ANYTHING})


AUTHORS = objects(name=TEXTS, url=ADDRESSES, icon_url=ADDRESSES)
FIELDS = objects(name=TEXTS, value=TEXTS, inline=st.booleans())
FOOTERS = objects(text=TEXTS, icon_url=ADDRESSES)
CARDS = objects(
    title=TEXTS,
    url=ADDRESSES,
    description=TEXTS,
    color=COLORS,
    author=AUTHORS,
    fields=st.one_of(
        st.lists(mostly(FIELDS), max_size=3),
        st.sampled_from([25, 26]).map(lambda count: [{"name": "a", "value": "b"}] * count),
    ),
    image_url=ADDRESSES,
    thumbnail_url=ADDRESSES,
    footer=FOOTERS,
    timestamp=MOMENTS,
)
PAYLOADS = objects(
    text=TEXTS,
    display_name=TEXTS,
    avatar_url=ADDRESSES,
    cards=st.one_of(
        st.lists(mostly(CARDS), max_size=3),
        st.sampled_from([10, 11]).map(lambda count: [{"title": "a"}] * count),
    ),
)


@settings(max_examples=600, derandomize=True, database=None)
@given(mostly(PAYLOADS))
@example({"cards": [{"title": "a", "timestamp": "2026-02-29T00:00Z"}]})
@example({"cards": [{"title": "a", "timestamp": "2000-02-29T00:00Z"}]})
@example({"cards": [{"description": "a" * 4000}, {"description": "a" * 2001}]})
@example({"cards": [{"description": "a" * 4000}, {"description": "a" * 2000}]})
@example({"text": "a", "cards": [{"fields": []}]})
def test_the_payload_parser_and_the_published_schema_accept_the_same_payloads(value: object) -> None:
    described_so = VALIDATOR.is_valid(value)
    parsed = parse(value)
    if isinstance(parsed, Payload):
        assert described_so
        assert characters(parsed) <= 6000
    elif described_so:
        assert {problem.code for problem in parsed.problems} == {UNSAYABLE}


def characters(payload: Payload) -> int:
    """Count the characters in all cards that count towards the limit, independently of the parser."""
    texts: list[str | None] = []
    for card in payload.cards:
        texts += [card.title, card.description]
        texts += [card.author.name if card.author else None, card.footer.text if card.footer else None]
        texts += [text for field in card.fields for text in (field.name, field.value)]
    return sum(len(text) for text in texts if text)


CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance),
    *(response_schema_conformance, response_headers_conformance),
]


@pytest.mark.parametrize(
    ("mode", "judged"),
    [
        (GenerationMode.POSITIVE, positive_data_acceptance),
        (GenerationMode.NEGATIVE, negative_data_rejection),
    ],
    ids=["good", "bad"],
)
async def test_responses_match_the_published_schema(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, mode: GenerationMode, judged: Any
) -> None:
    # Lift the rate limit, because this test sends hundreds of requests.
    monkeypatch.setattr(Limiter, "take", lambda *_: 0)
    async with asyncio.timeout(100):
        await asyncio.to_thread(force, hook, mode, [*CHECKS, judged])


def force(hook: Hook, mode: GenerationMode, checks: list[Any]) -> None:
    """Send the requests. Call this in a thread, because it blocks until each response arrives."""
    _, _, _, webhook_id, token = hook.path.split("/")
    parameters: Mapping[str, str] = {"webhook_id": webhook_id, "token": token}
    cases = schemathesis.openapi.from_dict(DOCUMENT)[PATH]["post"].as_strategy(generation_mode=mode)

    @settings(
        max_examples=20,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def call(case: Case[Any]) -> None:
        case.path_parameters.update(parameters)
        case.call_and_validate(base_url=hook.chat.address, checks=checks, timeout=60)

    call()
