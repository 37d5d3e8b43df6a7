"""Prints the requests to which two checkouts respond differently. Run it as `ci/answers OTHER`.

Requests are generated from the other checkout's description and sent to it twice. Values that differ between
those two runs, such as ids and times, are compared only by type. Changed error messages are listed
separately.
"""

import asyncio
import json
import re
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer
from tests.kit.described_requests import Json, Player
from tests.kit.svc_up import running_svc_up

HERE = Path(__file__).parents[2]
REFUSAL_TEXT = "body.message"
MAX_SHOWN_CHARACTERS = 80
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass
class Comparison:
    """The names of requests, grouped by how their responses differ."""

    alike: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    reworded: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    different: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def lines(self) -> Iterator[str]:
        different = {name for names in self.different.values() for name in names}
        reworded = {name for names in self.reworded.values() for name in names} - different
        yield (
            f"{len(self.alike)} answers alike, {len(reworded)} alike but for the text of a refusal, "
            f"{len(different)} different, {len(self.unstable)} unstable"
        )
        unstable = {"from one run of the other checkout to the next": self.unstable} if self.unstable else {}
        sections = {"Different": self.different, "Reworded": self.reworded, "Unstable": unstable}
        for title, kinds in sections.items():
            for what, names in sorted(kinds.items(), key=lambda kind: -len(kind[1])):
                yield f"\n{title}: {what}"
                yield from (f"    {name}" for name in names)


def compared(first: Mapping[str, Json], again: Mapping[str, Json], new: Mapping[str, Json]) -> Comparison:
    """Compare this checkout's responses, `new`, with the responses from two runs of the other checkout."""
    comparison = Comparison()
    for name, original in first.items():
        answer, repeated, changed = (numbered(part) for part in (original, again[name], new[name]))
        if outline(answer) != outline(repeated):
            comparison.unstable.append(name)
        elif problems := dict.fromkeys(differences(answer, repeated, changed)):
            for location, what in problems:
                kinds = comparison.reworded if location == REFUSAL_TEXT else comparison.different
                kinds[f"{location} {what}"].append(name)
        else:
            comparison.alike.append(name)
    return comparison


def numbered(value: Any) -> Any:
    """Replace ids that are object keys with their positions, because ids differ in each run."""
    if isinstance(value, dict):
        return {
            f"{{id {number}}}" if _ID.fullmatch(key) else key: numbered(item)
            for number, (key, item) in enumerate(value.items(), 1)
        }
    return [numbered(item) for item in value] if isinstance(value, list) else value


def outline(value: Any) -> object:
    """Reduce a response to the parts that should be identical in two runs. Strings and numbers become their
    types.
    """
    if isinstance(value, dict):
        return {key: item if key in ("status", "error") else outline(item) for key, item in value.items()}
    return [outline(item) for item in value] if isinstance(value, list) else type(value)


def differences(first: Any, again: Any, new: Any, location: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the kind of each difference. `first` and `again` have the same outline."""
    if isinstance(first, dict) and isinstance(new, dict):
        for key in first | new:
            inner = f"{location}.{key}" if location else key
            if key not in new:
                yield inner, "is gone"
            elif key not in first:
                yield inner, "is new"
            else:
                yield from differences(first[key], again[key], new[key], inner)
    elif isinstance(first, list) and isinstance(new, list):
        if len(first) != len(new):
            yield location, f"had {len(first)} entries, has {len(new)}"
        else:
            for items in zip(first, again, new, strict=True):
                yield from differences(*items, f"{location}[]")
    elif outline(first) != outline(new) or first == again != new:
        yield location, f"was {_shown(first)}, is {_shown(new)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"


@asynccontextmanager
async def running(checkout: Path) -> AsyncIterator[ChatServer]:
    """Run the server that is built in this checkout, with an empty data folder."""
    command = (str(checkout / ".venv" / "bin" / "svc"), "up")
    with TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        async with running_svc_up(data_dir, command=command, SVC_LINK_PREVIEWS="false") as product:
            address, _, invite = product.url.partition("/#invite=")
            async with ClientSession(address) as http:
                yield ChatServer(address, http, invite)


async def main(other: Path) -> bool:
    """Print the comparison. Return whether the responses differ at most in wording."""
    async with running(other) as chat:
        async with chat.http.get("/openapi.json") as response:
            document = await response.json()
        first = await Player(chat, document).play()
    async with running(other) as chat:
        again = await Player(chat, document).play()
    async with running(HERE) as chat:
        new = await Player(chat, document).play()
    comparison = compared(first, again, new)
    sys.stdout.writelines(f"{line}\n" for line in comparison.lines())
    return not comparison.different


if __name__ == "__main__":
    sys.exit(not asyncio.run(main(Path(sys.argv[1]))))
