"""Defines a check's finding, worded for the operator. The checks themselves are in other modules."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    OK = "ok"
    # The checked feature works, but could be better.
    NOTICE = "notice"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding, with advice on how to fix it. The advice is empty if there is nothing to fix."""

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
