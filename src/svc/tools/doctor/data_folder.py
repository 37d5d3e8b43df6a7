"""Checks the data folder: its permissions, free space and file system, the database, and the community's
owner.

Reads the whole database and does not change it.
"""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from svc.base.data_folder import is_held
from svc.base.database_file import DatabaseError, examine
from svc.base.migrations import migrations_in
from svc.chat.backup.backups import faults_in
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER
from svc.chat.server_status.health_report import COMFORTABLE_FREE_BYTES, MIN_FREE_BYTES
from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem

# Network file systems. These may lack the shared memory and working locks that the write-ahead log needs.
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "glusterfs", "ceph"})

_OWNERS = (
    "SELECT count(*), sum(EXISTS (SELECT 1 FROM member_roles WHERE member_id = id AND role_id = 'owner'))"
    " FROM members WHERE left_at_ms IS NULL"
)


def diagnose(folder: Path) -> Findings:
    if not folder.is_dir():
        return [
            notice(
                f"There is no folder {folder}",
                "The first start creates it. Name another one with --data-dir.",
            )
        ]
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return [
            problem(
                f"{folder} is on a file system that is mounted read-only",
                "Mount it for writing. Linux also does this after disk errors: see dmesg.",
            )
        ]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [
            problem(
                f"{folder} cannot be written by the user {os.geteuid()}",
                "Run this as the user of the server, or give the folder to that user (chown).",
            )
        ]
    findings = [_running(folder), _privacy(folder), room(shutil.disk_usage(folder).free)]
    return [*findings, disk(_kind_of(folder)), *_owner(folder / DATABASE_NAME)]


def room(free: int) -> Finding:
    space = f"{free / 1e9:.1f} GB are free on the disk of the data folder"
    if free < MIN_FREE_BYTES:
        return problem(space, "Free up space. When the disk is full, the server rejects all messages.")
    if free < COMFORTABLE_FREE_BYTES:
        return notice(space, "Uploads and backups will fill the disk. Keep an eye on it, or free up space.")
    return ok(space)


def disk(kind: str) -> Finding:
    if kind in _REMOTE:
        return problem(
            f"The data folder is on another machine's disk ({kind})",
            "Move it to a local disk: over such a file system SQLite can lose or damage data.",
        )
    return ok(f"The data folder is on a local disk{f' ({kind})' if kind else ''}")


def _running(folder: Path) -> Finding:
    if is_held(folder):
        return ok("A server runs on the data folder")
    if (folder / DATABASE_NAME).exists():
        return ok("The data folder belongs to a server that is not running now")
    return ok("No server has run on the data folder yet")


def database(faults: Sequence[str]) -> Finding:
    """Check the whole database and return the finding."""
    if faults:
        return problem(
            f"The database is damaged: {faults[0]}",
            "Keep your backups, and restore the newest into another folder (svc admin restore).",
        )
    return ok("The database is intact: SQLite checked all of it")


def database_at_rest(folder: Path) -> Findings:
    """Check the database of a stopped server, if there is one."""
    path = folder / DATABASE_NAME
    # SQLite cannot read a database that has a write-ahead log if the folder is read-only. `diagnose` reports
    # such a folder.
    if not path.exists() or not os.access(folder, os.W_OK) or is_held(folder):
        return []
    try:
        examine(path, migrations_in(SCHEMA_FOLDER))
        return [database(faults_in(path))]
    except DatabaseError as fault:
        return [problem(str(fault), "The server cannot start with this file.")]
    except (OSError, sqlite3.Error) as fault:
        return [problem(f"{path} cannot be read: {fault}", "Run this as the user of the server.")]


def _privacy(folder: Path) -> Finding:
    if folder.stat().st_mode & 0o077:
        return problem(
            f"Other users of this machine can read {folder}, which contains secrets",
            f"chmod 700 {folder}",
        )
    return ok("Only its owner can read the data folder")


def _owner(database: Path) -> Findings:
    """Report a community that has members but no owner."""
    if not database.exists():
        return []
    # There is no write-ahead log, so no process has the file open. A normal connection would leave files
    # behind.
    mode = "mode=ro" if database.with_name(database.name + "-wal").exists() else "immutable=1"
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{database.resolve().as_uri()}?{mode}", uri=True)) as opened,
    ):
        members, owners = opened.execute(_OWNERS).fetchone()
        if members and not owners:
            return [
                problem(
                    f"This server has {members} members and no owner",
                    "Make a member its owner: svc admin member owner MEMBER (list shows them).",
                )
            ]
    return []


def _kind_of(folder: Path) -> str:
    """Return the type of the file system, or an empty string if the system does not report it."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    target, best, kind = str(folder.resolve()) + "/", "", ""
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        _, point, its_kind, *_ = line.split(" ")
        point = point.replace("\\040", " ").rstrip("/") + "/"
        if target.startswith(point) and len(point) >= len(best):
            best, kind = point, its_kind
    return kind
