"""A private file is created completely and only once, and only its owner can read it."""

import stat
from pathlib import Path

import pytest

from svc.base.config_parsing import ConfigError
from svc.base.private_files import read_or_create


def test_a_private_file_is_created_only_once(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret"
    assert read_or_create(path, lambda: "first") == "first"
    assert read_or_create(path, lambda: "second") == "first"


def test_only_the_owner_may_read_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret"
    read_or_create(path, lambda: "text")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="secret cannot be stored: Not a directory"):
        read_or_create(tmp_path / "file" / "secret", lambda: "text")


@pytest.mark.parametrize("content", [b"\xff", b"", b" \n"])
def test_an_empty_file_is_reported_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="secret is damaged"):
        read_or_create(path, lambda: "text")
    assert path.read_bytes() == content
