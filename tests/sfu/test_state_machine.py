"""State machines report the state in errors about illegal events, and match the diagrams in the documents."""

import re
from pathlib import Path

import pytest

from svc.sfu import dtls
from svc.sfu.state_machine import IllegalEvent
from tests.sfu.diagrams import DOCUMENTS, drawn


def test_the_error_for_an_illegal_event_names_the_state() -> None:
    with pytest.raises(IllegalEvent, match=re.escape("DTLS: AUTHENTICATED must not happen in CLOSED")):
        dtls.TRANSITIONS.after(dtls.State.CLOSED, dtls.Event.AUTHENTICATED)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_diagrams_in_the_documents_match_the_tables_in_the_code(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert "```mermaid" in text
    assert text == drawn(text), "run python -m tests.sfu.diagrams"
