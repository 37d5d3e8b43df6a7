"""The data folder: whose it is, what room there is, and on what kind of disk it lies. Opens no database."""

import os
import shutil
from pathlib import Path

from svc.base.data_folder import is_held
from svc.chat.community import DATABASE_NAME
from svc.tools.doctor.finding import Finding, Findings, notice, ok, problem

LEAST_FREE_BYTES = 200 * 1024 * 1024
COMFORTABLE_FREE_BYTES = 2 * 1024 * 1024 * 1024
# The write-ahead log needs memory that all who open the file share, and locks that hold.
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "glusterfs", "ceph"})


def examined(folder: Path) -> Findings:
    if not folder.is_dir():
        return [notice(f"There is no folder {folder}", "The first start makes it; --data-dir names another.")]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [
            problem(
                f"{folder} cannot be written by the user {os.geteuid()}",
                "Run this as the user of the server, or give the folder to that user (chown).",
            )
        ]
    return [_running(folder), _privacy(folder), room(shutil.disk_usage(folder).free), disk(_kind_of(folder))]


def room(free: int) -> Finding:
    said = f"{free / 1e9:.1f} GB are free on the disk of the data folder"
    if free < LEAST_FREE_BYTES:
        return problem(said, "Make room: when the disk is full, the server refuses every message.")
    if free < COMFORTABLE_FREE_BYTES:
        return notice(said, "Uploads and backups will fill it; watch it, or make room.")
    return ok(said)


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
        return ok("The data folder is that of a server which does not run now")
    return ok("No server has run on the data folder yet")


def _privacy(folder: Path) -> Finding:
    if folder.stat().st_mode & 0o077:
        return problem(
            f"Other users of this machine may look into {folder}, and it holds secrets",
            f"chmod 700 {folder}",
        )
    return ok("Only its owner may look into the data folder")


def _kind_of(folder: Path) -> str:
    """Of the file system; empty where the system does not tell."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    here, best, kind = str(folder.resolve()) + "/", "", ""
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        _, point, its_kind, *_ = line.split(" ")
        point = point.replace("\\040", " ").rstrip("/") + "/"
        if here.startswith(point) and len(point) >= len(best):
            best, kind = point, its_kind
    return kind
