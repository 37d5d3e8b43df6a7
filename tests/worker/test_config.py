"""Tests the settings that the worker shares with the chat server.

See docs/configuration.md, "Media worker".
"""

from pathlib import Path

import pytest

from svc.worker.config import read


@pytest.mark.parametrize(
    ("given", "at_once"), [("", 1), ("0", 1), ("-7", 1), ("2", 2), ("4", 4), ("5", 4), ("99999", 4)]
)
def test_the_number_of_concurrent_emoji_jobs_is_limited_to_its_range(
    tmp_path: Path, given: str, at_once: int
) -> None:
    variables = {"DATA_DIR": str(tmp_path), "EMOJI_QUEUE_CONCURRENCY": given}
    assert read(variables).emoji_at_once == at_once


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 0.75), ("0", 0.25), ("249", 0.25), ("1000", 1.0), ("5001", 5.0)]
)
def test_the_polling_interval_is_limited_to_its_range(tmp_path: Path, given: str, seconds: float) -> None:
    assert read({"DATA_DIR": str(tmp_path), "EMOJI_QUEUE_POLL_MS": given}).emoji_poll_s == seconds
