"""What an examination finds, in words for the person who runs the server. Examines nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    OK = "ok"
    # Works, and could be better.
    NOTICE = "notice"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` is the case, and `advice` what to do about it; empty where nothing is to be done."""

    verdict: Verdict
    what: str
    advice: str = ""


def ok(what: str) -> Finding:
    return Finding(Verdict.OK, what)


def notice(what: str, advice: str) -> Finding:
    return Finding(Verdict.NOTICE, what, advice)


def problem(what: str, advice: str) -> Finding:
    return Finding(Verdict.PROBLEM, what, advice)


Findings = Sequence[Finding]
