"""Generates the state machine diagrams in the documentation: `python -m tests.sfu.diagrams`.

Each diagram follows a comment that names its state machine.
"""

import re
from enum import Enum
from pathlib import Path
from typing import TypeVar

from svc.sfu import dtls, ice_states, session_states
from svc.sfu.state_machine import Transitions

_State = TypeVar("_State", bound=Enum)
_Event = TypeVar("_Event", bound=Enum)

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTS = (DOCS / "ice.md", DOCS / "signalling.md")
_PLACE = re.compile(r"<!-- (\w+) -->\n(?:```mermaid\n.*?```\n)?", re.DOTALL)


def drawn(document: str) -> str:
    """Return the document with up-to-date diagrams."""
    diagrams = {
        session_states.TRANSITIONS.machine: _diagram(session_states.TRANSITIONS),
        ice_states.TRANSITIONS.machine: _diagram(ice_states.TRANSITIONS),
        dtls.TRANSITIONS.machine: _diagram(dtls.TRANSITIONS),
    }
    return _PLACE.sub(lambda match: f"<!-- {match[1]} -->\n{diagrams[match[1]]}", document)


def _diagram(transitions: Transitions[_State, _Event]) -> str:
    """Return a Mermaid diagram that starts at the first state and ends at the final states."""
    table = transitions.table
    lines = [f"[*] --> {_words(next(iter(table)))}"]
    for state, ways in table.items():
        lines += [
            f"{_words(state)} --> {_words(following)}: {_words(event).lower()}"
            for event, following in ways.items()
        ]
        if set(ways.values()) <= {state}:
            lines.append(f"{_words(state)} --> [*]")
    return "\n    ".join(("```mermaid\nstateDiagram-v2", *lines)) + "\n```\n"


def _words(member: Enum) -> str:
    return member.name.capitalize().replace("_", " ")


if __name__ == "__main__":
    for path in DOCUMENTS:
        path.write_text(drawn(path.read_text(encoding="utf-8")), encoding="utf-8")
