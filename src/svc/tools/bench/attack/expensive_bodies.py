"""Finds the most expensive body that each endpoint accepts, and attacks with it.

Each endpoint has a few candidates: bodies of the maximum size, each consisting mostly of one kind of content.
Before the attack, each candidate is sent to the instance, and the candidate that costs the most CPU time is
selected. If the server's process is unknown, the candidate with the slowest response is selected. Rejected
candidates are ignored.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, cycle, repeat

from svc.tools.bench import process
from svc.tools.bench.attack.http_client import Caller
from svc.tools.bench.attack.load import Load
from svc.tools.bench.attack.target import Target

# The number of requests in progress per endpoint.
AT_ONCE = 15
# A little less than the limit for a webhook's body, to leave room for the end of the body.
BODY_BYTES = 256 * 1024
# The size limits for a message's text and for the bodies of members' other requests.
TEXT_CHARACTERS = 4_000
SMALL_BYTES = 64 * 1024
# The number of times that each candidate is sent. All webhook candidates together must stay within one
# webhook's rate limit of 15 posts.
TRIES, WEBHOOK_TRIES = 2, 1
GITHUB_EVENTS = {
    "push": '{"ref":"refs/heads/main","commits":[{}',
    "issues": '{"action":"opened","issue":{"a":[0',
}

_EMPTY_LISTS = ',"more":[[]', ",[]", "]}"


def _fill(before: str, piece: str, behind: str, size: int = BODY_BYTES) -> str:
    """Return a body that repeats the piece up to the given size."""
    return before + piece * ((size - len(before) - len(behind)) // len(piece)) + behind


def _text(piece: str) -> str:
    return (piece * TEXT_CHARACTERS)[:TEXT_CHARACTERS]


def _marks(size: int = TEXT_CHARACTERS) -> str:
    """Return a letter with combining marks in the worst order: canonical ordering moves the second half
    before the first half.
    """
    return "a" + "\u0301" * (size // 2 - 1) + "\u0316" * (size // 2)


def _different(piece: str) -> str:
    """Return text in which no word occurs twice."""
    return "".join(f"{piece}{number:x} " for number in range(TEXT_CHARACTERS))[:TEXT_CHARACTERS]


@cache
def _webhook_bodies() -> Mapping[str, Mapping[str, str]]:
    """Return bodies, keyed by the last part of the webhook's path and then by a name for the content."""
    lists, list_piece, list_end = _EMPTY_LISTS
    words = "*word* _word_ `code` "
    fields = ",".join('{"name":"_a_","value":"`b` *c* <@1>","title":"_a_"}' for _ in range(25))
    own_fields = ",".join('{"name":"a","value":"$h!t a b"}' for _ in range(25))
    styled = '{"type":"text","text":"*\\n*\\n","style":{"bold":true,"strike":true}}'
    cards = ",".join(f'{{"title":"a","fields":[{own_fields}]}}' for _ in range(10))
    return {
        "": {
            "lists": _fill('{"text":"a"' + lists, list_piece, list_end),
            "disguises": json.dumps({"text": _different("\u00df$\ufb01")}),
            "rows of letters": json.dumps({"text": _text("_-a"), "cards": [{"description": _marks()}]}),
            "cards": f'{{"cards":[{cards}]}}',
            "halves of pairs": _fill('{"text":"a","more":"', "\\ud800", '"}'),
        },
        "/discord": {
            "lists": _fill('{"content":"a"' + lists, list_piece, list_end),
            "embeds": _fill('{"content":"a","embeds":[{}', f',{{"title":"a","fields":[{fields}]}}', "]}"),
            "moments": _fill('{"content":"', "<t:1>", '"}'),
        },
        "/slack": {
            "percent signs": _fill('payload={"text":"', "%", '"}'),
            "mentions": _fill('{"text":"', "<!a>", '"}'),
            "attachments": _fill(
                '{"attachments":[{"text":"a"}', f',{{"text":"{words}","fields":[{fields}]}}', "]}"
            ),
            "lines": _fill(
                '{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":['
                + styled,
                f",{styled}",
                "]}]}]}",
            ),
            "backslashes": _fill('{"text":"', "\\\\", '"}'),
        },
        "/github": {
            event: _fill(begun, ",{}", "]}" if event == "push" else ']},"a":0}')
            for event, begun in GITHUB_EVENTS.items()
        },
    }


@cache
def _member_bodies() -> Mapping[str, Mapping[str, str]]:
    """Return bodies, keyed by method and path. `{channel}` stands for a channel's id."""
    texts = {
        "words": _text("$h!t "),
        "disguises": _different("f.u.c.k_$h!t_"),
        "ligatures": _different("\u00df$\ufb01"),
        "links": _text("a.bc/ "),
        "matches": _text("qaz1 "),
        "mentions": _text("[a](mention:b)"),
        "brackets": _text("]" * 50),
        "letters": _text("\u0301"),
        "rows of letters": _text("_-a"),
        "marks": _marks(),
        "marks of a host": f"http://{_marks(TEXT_CHARACTERS - 10)}/",
        "late beginnings": _text(f"x{'ab' * 127} "),
    }
    texts["brackets"] = ("https://example.org/" + texts["brackets"])[:TEXT_CHARACTERS]
    messages = {name: json.dumps({"text": text}) for name, text in texts.items()}
    messages["lists"] = _fill('{"text":"a","more":[[]', ",[]", "]}", SMALL_BYTES)
    messages["numbers"] = _fill('{"text":"a","more":[0', ",1.2345678901234567e-300", "]}", SMALL_BYTES)
    return {
        "POST /api/channels/{channel}/messages": messages,
        "PUT /api/channels/{channel}/draft": messages,
    }


@cache
def _stranger_bodies() -> Mapping[str, Mapping[str, str]]:
    """Return bodies of unauthenticated requests. The server has to parse even the bodies that it rejects."""
    token = "a" * 20_000
    fields = {"certificate": token, "assertion": token, "nickname": "\u0301" * 30}
    return {
        "POST /api/auth/challenge": {"lists": _fill('{"more":[[]', ",[]", "]}", SMALL_BYTES)},
        "POST /api/auth/join": {
            "tokens": json.dumps(fields),
            "ligatures": json.dumps({"nickname": "\ufdfa" * 9_000}),
        },
        "POST /api/auth/refresh": {"token": json.dumps({"refresh_token": "a" * 60_000})},
    }


def _candidates(target: Target, webhook: str) -> Mapping[str, Mapping[str, bytes]]:
    """Return all requests that this instance can receive, by endpoint and name."""
    candidates: dict[str, dict[str, bytes]] = {}
    if webhook:
        for end, bodies in _webhook_bodies().items():
            candidates[f"POST webhook{end}"] = {
                name: target.request(
                    "POST", webhook + end, body=body.encode(), headers={"X-GitHub-Event": name}
                )
                for name, body in bodies.items()
            }
    token = target.tokens[0] if target.tokens else ""
    members = _member_bodies() if token else {}
    for endpoint, bodies in chain(members.items(), _stranger_bodies().items()):
        method, path = endpoint.replace("{channel}", target.channel_id).split(" ")
        shown = token if endpoint in members else ""
        candidates[endpoint] = {
            name: target.request(method, path, token=shown, body=body.encode())
            for name, body in bodies.items()
        }
    return candidates


async def with_expensive_bodies(target: Target, webhook: str, pid: int | None) -> Target:
    """Find each endpoint's most expensive body and add it to the target.

    The candidates are sent to `webhook`, whose limits are separate from those of the attacked webhooks.
    """
    chosen = [
        (endpoint, await _most_expensive(target, endpoint, candidates, pid))
        for endpoint, candidates in _candidates(target, webhook or target.webhook).items()
    ]
    return replace(target, expensive=tuple(f"{endpoint}: {name}" for endpoint, name in chosen if name))


async def _most_expensive(
    target: Target, endpoint: str, candidates: Mapping[str, bytes], pid: int | None
) -> str:
    """Return the name of the most expensive candidate, or an empty string if all are rejected."""
    refused_too = endpoint in _stranger_bodies()
    tries = WEBHOOK_TRIES if endpoint.startswith("POST webhook") else TRIES
    costs: dict[str, float] = {}
    for name, request in candidates.items():
        cost = [cost for _ in range(tries) if (cost := await _cost(target, request, refused_too, pid))]
        if cost:
            costs[name] = min(cost)
    return max(costs, key=costs.__getitem__, default="")


async def _cost(target: Target, request: bytes, refused_too: bool, pid: int | None) -> float:
    """Return the cost of a request: the server's CPU time in seconds, or the response time if its process is
    unknown. Return 0 if the request is rejected.
    """
    caller, began = Caller(target.address), time.perf_counter()
    before = process.cpu_ns(pid) if pid else 0
    try:
        status = (await caller.ask(request)).status
    except (OSError, EOFError, ValueError):
        return 0
    finally:
        caller.close()
    if status >= 400 and not refused_too:
        return 0
    return (process.cpu_ns(pid) - before) / 1e9 if pid else time.perf_counter() - began


async def expensive_bodies(load: Load) -> None:
    """Send the most expensive body to each endpoint, with 15 requests in progress per endpoint, using every
    webhook.
    """
    chosen = dict(entry.split(": ", 1) for entry in load.target.expensive)
    webhooks = load.target.webhooks or (load.target.webhook,)
    async with asyncio.TaskGroup() as group:
        for endpoint, name in chosen.items():
            group.create_task(load.flood(AT_ONCE, _requests(load.target, endpoint, name, webhooks)))


def _requests(target: Target, endpoint: str, name: str, webhooks: Sequence[str]) -> Iterator[bytes]:
    if not endpoint.startswith("POST webhook"):
        return repeat(_candidates(target, "")[endpoint][name])
    return cycle(
        chain.from_iterable(
            repeat(_candidates(target, webhook)[endpoint][name], AT_ONCE) for webhook in webhooks
        )
    )
