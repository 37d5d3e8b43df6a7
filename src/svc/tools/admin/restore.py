"""`svc admin restore FILE`: create a data folder from a backup, all or nothing."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from svc.base.config import ConfigError
from svc.tools.admin.action import counted, printed
from svc.tools.admin.progress_bar import shown

if TYPE_CHECKING:
    from svc.base.objects import ObjectStore


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file from svc admin backup")
    parser.add_argument(
        "--verify", action="store_true", help="check the database and every file it refers to"
    )
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.base.progress import heard_by

    folder: Path = options.data_dir
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is not empty. Restore a backup into a new folder")
    with shown() as listener, heard_by(listener):
        result = asyncio.run(_restored(options.file, folder, options.variables, verify=options.verify))
    files = result["objects"]
    assert isinstance(files, int), "it is a count"
    lines = [
        f"{folder}  database and {counted(files, 'file')}, backed up at {result['made_at']}",
        f"Media is in {result['objects_folder']}." if result["objects_folder"] else "Media is in the bucket.",
    ]
    if options.verify:
        lines.append("The database is sound, and every file that it refers to is there.")
    printed(result, lines, as_json=options.json)


async def _restored(
    archive: Path, folder: Path, variables: Mapping[str, str], *, verify: bool
) -> dict[str, object]:
    from svc.base.migrations import migrations_in
    from svc.base.objects import StoreFailed
    from svc.chat.backup.archive import ArchiveError
    from svc.chat.backup.restore import built, faults, refuse_foreign, restore
    from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER

    migrations = migrations_in(SCHEMA_FOLDER)
    elsewhere, named_folder = _store(variables)
    try:
        async with built(folder) as building:
            newest = migrations[-1].number
            restored = await restore(archive, building, newest, DATABASE_NAME, elsewhere, named_folder)
            refuse_foreign(building / DATABASE_NAME, migrations)
            if verify:
                objects = elsewhere or _files(building / restored.objects_folder)
                if found := await faults(building / DATABASE_NAME, objects):
                    raise ArchiveError("; ".join(found))
    except ArchiveError as fault:
        raise ConfigError(f"{archive}: {fault}; nothing was restored") from None
    except StoreFailed as fault:
        raise ConfigError(f"the object store does not accept it: {fault}; nothing was restored") from None
    except OSError as fault:
        named = fault.filename or folder
        raise ConfigError(f"{named}: {fault.strerror or fault}; nothing was restored") from None
    described = _described(asdict(restored), verified=verify)
    return {**described, "objects_folder": "" if elsewhere else restored.objects_folder}


def _described(restored: dict[str, object], *, verified: bool) -> dict[str, object]:
    from datetime import UTC, datetime

    header = restored.pop("header")
    assert isinstance(header, dict), "it was a dataclass"
    made_at = datetime.fromtimestamp(header["made_at_ms"] / 1000, UTC).isoformat(timespec="seconds")
    return {"schema": header["schema"], "made_at": made_at, **restored, "verified": verified}


def _store(variables: Mapping[str, str]) -> tuple["ObjectStore | None", str]:
    """Return the configured bucket, or else the configured folder for media."""
    from svc.base.storage import FILESYSTEM, S3, read

    storage = read(variables)
    if storage.backend == S3 and not storage.unusable_because:
        return storage.opened(Path()), ""
    return None, storage.folder if storage.backend == FILESYSTEM else ""


def _files(folder: Path) -> "ObjectStore":
    from svc.base.objects import FileObjects

    return FileObjects(folder)
