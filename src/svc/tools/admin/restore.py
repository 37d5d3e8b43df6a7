"""`svc admin restore`: create a complete data folder from a backup or a cluster's log."""

import asyncio
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from svc.base.config_parsing import ConfigError, cluster_library
from svc.tools.admin.action import count_noun, print_lines
from svc.tools.admin.progress_bar import show_progress

if TYPE_CHECKING:
    from svc.base.object_store import ObjectStore


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="file from svc admin backup")
    parser.add_argument(
        "--at",
        type=_moment,
        metavar="TIME",
        help="instead of FILE: restore a cluster's community as of this time, such as 2026-11-28T10:15:00Z",
    )
    parser.add_argument("--cluster", metavar="URLS", help="NATS servers for --at; or SVC_CLUSTER")
    parser.add_argument("--cluster-name", default="svc", metavar="NAME", help="name of the log in NATS")
    parser.add_argument(
        "--verify", action="store_true", help="check the database and every file it refers to"
    )
    parser.set_defaults(run=_run)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a time like 2026-11-28T10:15:00Z") from None
    return moment if moment.tzinfo else moment.astimezone()


def _run(options: Namespace) -> None:
    from svc.base.progress import reports_to

    if (options.file is None) == (options.at is None):
        raise ConfigError("Give either FILE or --at TIME")
    folder: Path = options.data_dir
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is not empty. Restore a backup into a new folder")
    with show_progress() as listener, reports_to(listener):
        result = asyncio.run(_restore(options, folder))
    if options.at is not None:
        lines = [
            f"{folder}  community before {result['at']}: the log up to entry {result['sequence']}",
            "Media is neither in the log nor here: it is where it was.",
        ]
    else:
        files = result["objects"]
        assert isinstance(files, int), "it is a count"
        media = result["objects_folder"]
        lines = [
            f"{folder}  database and {count_noun(files, 'file')}, backed up at {result['made_at']}",
            f"Media is in {media}." if media else "Media is in the bucket.",
        ]
    if options.verify:
        lines.append("The database is intact, and every file that it refers to exists.")
    print_lines(result, lines, as_json=options.json)


async def _restore(options: Namespace, folder: Path) -> dict[str, object]:
    from svc.base.migrations import migrations_in
    from svc.base.object_store import StoreFailed
    from svc.chat.backup.archive import ArchiveError
    from svc.chat.backup.restore import faults, new_folder, refuse_foreign, restore
    from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER

    migrations = migrations_in(SCHEMA_FOLDER)
    elsewhere, media = _store(options.variables)
    try:
        async with new_folder(folder) as building:
            database = building / DATABASE_NAME
            if options.at is not None:
                result = await _from_cluster(options, building, database)
            else:
                newest = migrations[-1].number
                restored = await restore(options.file, building, newest, DATABASE_NAME, elsewhere, media)
                media = restored.objects_folder
                result = _describe(asdict(restored)) | {"objects_folder": "" if elsewhere else media}
            refuse_foreign(database, migrations)
            if options.verify:
                objects = elsewhere or _files(building / media)
                if database_faults := await faults(database, objects):
                    raise ArchiveError("; ".join(database_faults))
    except ArchiveError as fault:
        raise ConfigError(f"{options.file or options.at}: {fault}; nothing was restored") from None
    except StoreFailed as fault:
        raise ConfigError(f"the object store does not accept it: {fault}; nothing was restored") from None
    except OSError as fault:
        path = fault.filename or folder
        raise ConfigError(f"{path}: {fault.strerror or fault}; nothing was restored") from None
    return result | {"verified": options.verify}


async def _from_cluster(options: Namespace, folder: Path, database: Path) -> dict[str, object]:
    from svc.base.config_parsing import items

    with cluster_library("--at"):
        from svc.chat.cluster.nats_connection import ClusterError
        from svc.chat.cluster.point_in_time import restore_at
    variables = {"SVC_CLUSTER": options.cluster} if options.cluster else options.variables
    servers = items(variables, "SVC_CLUSTER")
    if not servers:
        raise ConfigError("--at needs --cluster or SVC_CLUSTER")
    try:
        restored = await asyncio.to_thread(
            restore_at, servers, options.cluster_name, options.at, folder, database
        )
    except ClusterError as fault:
        raise ConfigError(f"{fault}; nothing was restored") from None
    return {"at": options.at.isoformat(), **asdict(restored)}


def _describe(restored: dict[str, object]) -> dict[str, object]:
    header = restored.pop("header")
    assert isinstance(header, dict), "it was a dataclass"
    made_at = datetime.fromtimestamp(header["made_at_ms"] / 1000, UTC).isoformat(timespec="seconds")
    return {"schema": header["schema"], "made_at": made_at, **restored}


def _store(variables: Mapping[str, str]) -> tuple["ObjectStore | None", str]:
    """Return the configured bucket, or the configured media folder if there is no bucket."""
    from svc.base.object_store_config import FILESYSTEM, S3, read

    storage = read(variables)
    if storage.backend == S3 and not storage.unusable_because:
        return storage.open_store(Path()), ""
    return None, storage.folder if storage.backend == FILESYSTEM else ""


def _files(folder: Path) -> "ObjectStore":
    from svc.base.object_store import FileObjects

    return FileObjects(folder)
