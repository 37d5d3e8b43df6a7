"""The attack with the most expensive body that each endpoint accepts, which is found by measuring.

Each endpoint has a few candidates: bodies of its largest size that are mostly one thing. Each is sent to the
instance before the attack, and the one that takes most of the server's processor is used. Where its process
is not known, the one that is answered last is. A candidate that is refused is left out.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, cycle, repeat

from svc.tools.bench import process
from svc.tools.bench.attack.load import Load
from svc.tools.bench.attack.target import Target
from svc.tools.bench.attack.wire import Caller

# Requests that are under way for each endpoint.
AT_ONCE = 15
# The body limit of a webhook, a little less to leave room for the ends of a body.
BODY_BYTES = 256 * 1024
# A message, and what other requests of members take.
TEXT_CHARACTERS = 4_000
SMALL_BYTES = 64 * 1024
# A webhook accepts as many bytes at once as its candidates have together.
TRIES, WEBHOOK_TRIES = 2, 1
GITHUB_EVENTS = {
    "push": '{"ref":"refs/heads/main","commits":[{}',
    "issues": '{"action":"opened","issue":{"a":[0',
}

_EMPTY_LISTS = ',"more":[[]', ",[]", "]}"


def _filled(before: str, piece: str, behind: str, size: int = BODY_BYTES) -> str:
    """As many pieces as fit."""
    return before + piece * ((size - len(before) - len(behind)) // len(piece)) + behind


def _text(piece: str) -> str:
    return (piece * TEXT_CHARACTERS)[:TEXT_CHARACTERS]


@cache
def _webhook_bodies() -> Mapping[str, Mapping[str, str]]:
    """By the end of a webhook's path, and by what fills them."""
    lists, list_piece, list_end = _EMPTY_LISTS
    words = "*word* _word_ `code` "
    fields = ",".join('{"name":"_a_","value":"`b` *c* <@1>","title":"_a_"}' for _ in range(25))
    own_fields = ",".join('{"name":"a","value":"$h!t a b"}' for _ in range(25))
    cards = ",".join(f'{{"title":"a","fields":[{own_fields}]}}' for _ in range(10))
    return {
        "": {
            "lists": _filled('{"text":"a"' + lists, list_piece, list_end),
            "words": json.dumps({"text": _text("$h!t ")}),
            "cards": f'{{"cards":[{cards}]}}',
            "halves of pairs": _filled('{"text":"a","more":"', "\\ud800", '"}'),
        },
        "/discord": {
            "lists": _filled('{"content":"a"' + lists, list_piece, list_end),
            "embeds": _filled('{"content":"a","embeds":[{}', f',{{"title":"a","fields":[{fields}]}}', "]}"),
            "moments": _filled('{"content":"', "<t:1>", '"}'),
        },
        "/slack": {
            "percent signs": _filled('payload={"text":"', "%", '"}'),
            "mentions": _filled('{"text":"', "<!a>", '"}'),
            "attachments": _filled(
                '{"attachments":[{"text":"a"}', f',{{"text":"{words}","fields":[{fields}]}}', "]}"
            ),
            "backslashes": _filled('{"text":"', "\\\\", '"}'),
        },
        "/github": {
            event: _filled(begun, ",{}", "]}" if event == "push" else ']},"a":0}')
            for event, begun in GITHUB_EVENTS.items()
        },
    }


@cache
def _member_bodies() -> Mapping[str, Mapping[str, str]]:
    """By method and path; `{channel}` stands for a channel."""
    texts = {
        "words": _text("$h!t "),
        "mentions": _text("[a](mention:b)"),
        "brackets": _text("]" * 50),
        "letters": _text("\u0301"),
    }
    texts["brackets"] = ("https://example.org/" + texts["brackets"])[:TEXT_CHARACTERS]
    messages = {name: json.dumps({"text": text}) for name, text in texts.items()}
    messages["lists"] = _filled('{"text":"a","more":[[]', ",[]", "]}", SMALL_BYTES)
    messages["numbers"] = _filled('{"text":"a","more":[0', ",1.2345678901234567e-300", "]}", SMALL_BYTES)
    return {
        "POST /api/channels/{channel}/messages": messages,
        "PUT /api/channels/{channel}/draft": messages,
    }


@cache
def _stranger_bodies() -> Mapping[str, Mapping[str, str]]:
    """Refused or not, what strangers send is read."""
    token = "a" * 20_000
    fields = {"certificate": token, "assertion": token, "nickname": "\u0301" * 30}
    return {
        "POST /api/auth/challenge": {"lists": _filled('{"more":[[]', ",[]", "]}", SMALL_BYTES)},
        "POST /api/auth/join": {
            "tokens": json.dumps(fields),
            "ligatures": json.dumps({"nickname": "\ufdfa" * 9_000}),
        },
        "POST /api/auth/refresh": {"token": json.dumps({"refresh_token": "a" * 60_000})},
    }


def _candidates(target: Target, webhook: str) -> Mapping[str, Mapping[str, bytes]]:
    """All requests by endpoint and name; those that this instance cannot be sent are left out."""
    found: dict[str, dict[str, bytes]] = {}
    if webhook:
        for end, bodies in _webhook_bodies().items():
            found[f"POST webhook{end}"] = {
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
        found[endpoint] = {
            name: target.request(method, path, token=shown, body=body.encode())
            for name, body in bodies.items()
        }
    return found


async def with_expensive_bodies(target: Target, webhook: str, pid: int | None) -> Target:
    """The knowledge of attackers once the most expensive body of each endpoint has been found.

    `webhook` takes what is tried: its share is not that of the webhooks that are attacked.
    """
    found = [
        (endpoint, await _most_expensive(target, endpoint, candidates, pid))
        for endpoint, candidates in _candidates(target, webhook or target.webhook).items()
    ]
    return replace(target, expensive=tuple(f"{endpoint}: {name}" for endpoint, name in found if name))


async def _most_expensive(
    target: Target, endpoint: str, candidates: Mapping[str, bytes], pid: int | None
) -> str:
    """The name of one; empty where none is accepted."""
    refused_too = endpoint in _stranger_bodies()
    tries = WEBHOOK_TRIES if endpoint.startswith("POST webhook") else TRIES
    costs: dict[str, float] = {}
    for name, request in candidates.items():
        cost = [cost for _ in range(tries) if (cost := await _cost(target, request, refused_too, pid))]
        if cost:
            costs[name] = min(cost)
    return max(costs, key=costs.__getitem__, default="")


async def _cost(target: Target, request: bytes, refused_too: bool, pid: int | None) -> float:
    """Seconds of the server's processor, or of waiting; 0 where it is refused."""
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
    """The most expensive body that each endpoint accepts, 15 at once, to as many webhooks as there are."""
    chosen = dict(each.split(": ", 1) for each in load.target.expensive)
    webhooks = load.target.webhooks or (load.target.webhook,)
    async with asyncio.TaskGroup() as group:
        for endpoint, name in chosen.items():
            group.create_task(load.flood(AT_ONCE, _requests(load.target, endpoint, name, webhooks)))


def _requests(target: Target, endpoint: str, name: str, webhooks: Sequence[str]) -> Iterator[bytes]:
    if not endpoint.startswith("POST webhook"):
        return repeat(_candidates(target, "")[endpoint][name])
    return cycle(
        chain.from_iterable(repeat(_candidates(target, each)[endpoint][name], AT_ONCE) for each in webhooks)
    )
