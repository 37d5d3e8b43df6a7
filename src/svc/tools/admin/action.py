"""Defines an operator's action: its command-line arguments, the command that it sends, and the output format.

The subject modules are tables of actions. This module sends nothing itself.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The result of a command: any JSON value.
Result = Any


def line_of_json(result: Result) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def print_lines(result: Result, lines: Iterable[str], *, as_json: bool) -> None:
    for line in [line_of_json(result)] if as_json else lines:
        print(line)
    sys.stdout.flush()


def every_value(result: Result) -> Iterator[str]:
    """Yield one line per field, with its name and value."""
    for field, value in result.items():
        yield f"{field}  {json.dumps(value, ensure_ascii=False)}"


def count_noun(count: int, what: str, several: str = "") -> str:
    """Return a count with its noun, such as `1 file` or `2 files`."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def missing(files: int) -> str:
    return f"{count_noun(files, 'file')} {'was' if files == 1 else 'were'} missing"


def or_none(name: str, line: Callable[[Result], str], none: str) -> Callable[[Result], Iterator[str]]:
    """Return a function that formats a list, one item per line, with a message for an empty list."""

    def shown(answer: Result) -> Iterator[str]:
        yield from map(line, answer[name]) if answer[name] else [none]

    return shown


@dataclass(frozen=True, slots=True)
class Action:
    """The command line `svc admin SUBJECT name`, which sends `command`."""

    name: str
    help: str
    command: str
    # The functions that add the action's arguments to the parser, and convert parsed arguments to the
    # command's arguments.
    add: Callable[[ArgumentParser], object] = lambda parser: None
    arguments: Callable[[Namespace], Mapping[str, object]] = lambda options: {}
    # Formats the result as lines of text. With --json it is one line of JSON instead.
    shown: Callable[[Result], Iterable[str]] = every_value
    # Adds links to the result, given the server's public URL. None if the result has no links.
    linked: Callable[[Result, str], Result] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """The command line `svc admin SUBJECT`, and its actions."""

    help: str
    actions: Sequence[Action]
