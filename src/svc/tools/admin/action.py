"""One thing that the operator can ask of a server: how it is said, asked, and its answer shown.

The subjects' files are tables of these. Asks nothing itself.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What a command has answered: JSON, so of any shape.
Result = Any


def line_of_json(result: Result) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def printed(result: Result, lines: Iterable[str], *, as_json: bool) -> None:
    for line in [line_of_json(result)] if as_json else lines:
        print(line)
    sys.stdout.flush()


def every_value(result: Result) -> Iterator[str]:
    """Name and value of everything in an object, a line each."""
    for name, value in result.items():
        yield f"{name}  {json.dumps(value, ensure_ascii=False)}"


def counted(count: int, what: str, several: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def missing(files: int) -> str:
    return f"{counted(files, 'file')} {'was' if files == 1 else 'were'} missing"


def or_none(name: str, line: Callable[[Result], str], none: str) -> Callable[[Result], Iterator[str]]:
    """Shows a list, an item a line; an empty one says so."""

    def shown(answer: Result) -> Iterator[str]:
        yield from map(line, answer[name]) if answer[name] else [none]

    return shown


@dataclass(frozen=True, slots=True)
class Action:
    """`svc admin SUBJECT name`, which asks for `command`."""

    name: str
    help: str
    command: str
    # What else may be said on the command line, and what of it goes to the server.
    add: Callable[[ArgumentParser], object] = lambda parser: None
    arguments: Callable[[Namespace], Mapping[str, object]] = lambda options: {}
    # The answer as lines for people. With --json it is one line of JSON.
    shown: Callable[[Result], Iterable[str]] = every_value
    # The answer with links in it, given where people open the server; None where none belong there.
    linked: Callable[[Result, str], Result] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """`svc admin SUBJECT` and what can be done with it."""

    help: str
    actions: Sequence[Action]
