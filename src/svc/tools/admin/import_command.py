"""`svc admin import`: import an export from svc, Discord or Slack into a stopped server.

Imports everything or nothing. An invalid file is reported before anything changes, with the position of the
error.
"""

import asyncio
import sqlite3
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from svc.base.config_parsing import ConfigError
from svc.tools.admin.action import count_noun, missing, print_lines
from svc.tools.admin.progress_bar import show_progress

if TYPE_CHECKING:
    from svc.base.database import Database
    from svc.base.object_store import ObjectStore
    from svc.chat.import_export.foreign_export import Source

# The prefix of the temporary folder, which a killed import leaves behind.
_MAKING = ".importing-"
_PROGRAMS = ("svc", "discord", "slack")


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="exported file; for Discord also a folder")
    parser.add_argument(
        "--from",
        dest="program",
        choices=_PROGRAMS,
        default="svc",
        help="svc (default): svc admin export; discord: JSON of DiscordChatExporter; slack: its zip file",
    )
    parser.add_argument("--hidden", action="store_true", help="show the new channels to administrators only")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.base.data_folder import is_held
    from svc.base.progress import reports_to

    if options.data_dir.is_dir() and is_held(options.data_dir):
        raise ConfigError(f"a server is running in {options.data_dir}. Stop it before you import")
    with show_progress() as listener, reports_to(listener):
        result = asyncio.run(_import(options))
    print_lines(result, _lines(result), as_json=options.json)


async def _import(options: Namespace) -> dict[str, object]:
    from svc.base.database import StorageFailed
    from svc.base.object_store import StoreFailed
    from svc.chat.import_export.record_types import BadRecord
    from svc.tools.admin.stopped_server import database_of

    try:
        async with database_of(options.data_dir, options.variables) as (database, objects):
            return await _import_into(options, database, objects)
    except BadRecord as fault:
        raise ConfigError(f"{fault}; nothing was imported") from None
    except (StorageFailed, StoreFailed, sqlite3.Error) as fault:
        raise ConfigError(f"it cannot be stored: {fault}; nothing was imported") from None
    except OSError as fault:
        path = fault.filename or options.file
        raise ConfigError(f"{path}: {fault.strerror or fault}; nothing was imported") from None


async def _import_into(options: Namespace, database: "Database", objects: "ObjectStore") -> dict[str, object]:
    from svc.chat.access.directory import Directory
    from svc.chat.audit.log import Audit
    from svc.chat.backup.backups import remove_unfinished
    from svc.chat.import_export.community_import import import_whole
    from svc.chat.import_export.export_file import Export
    from svc.chat.import_export.foreign_import import add
    from svc.tools.admin.imports.discord import DiscordExport
    from svc.tools.admin.imports.media_conversion import rewriting
    from svc.tools.admin.imports.slack import SlackExport

    now = time.time()
    if options.program == "svc":
        export = await asyncio.to_thread(Export, options.file)
        try:
            remove_unfinished(options.data_dir, _MAKING)
            with tempfile.TemporaryDirectory(dir=options.data_dir, prefix=_MAKING) as folder:
                async with rewriting(Path(folder)) as rewrite:
                    return asdict(await import_whole(database, objects, rewrite, Path(folder), export, now))
        finally:
            export.close()
    readers: dict[str, Callable[[Path], Source]] = {"discord": DiscordExport, "slack": SlackExport}
    source = await asyncio.to_thread(readers[options.program], options.file)
    # The member directory is empty, because the operator is acting and no permissions are checked.
    audit = Audit(database, Directory(time.time))
    return asdict(await add(database, objects, audit, source, now, hidden=options.hidden))


def _lines(result: Mapping[str, object]) -> list[str]:
    match result:
        case {
            "records": dict(records),
            "missing": list(absent),
            "left_out": dict(left_out),
            "yet_to_come": int(yet_to_come),
        }:
            lines = [
                count_noun(count, kind, "emoji" if kind == "emoji" else "") for kind, count in records.items()
            ]
            lines += [missing(len(absent))] if absent else []
            lines += [f"left out: {count_noun(count, 'file')} ({code})" for code, count in left_out.items()]
            if yet_to_come:
                verb = "was" if yet_to_come == 1 else "were"
                lines.append(f"{count_noun(yet_to_come, 'time')} later than now {verb} set to now")
            return lines
    counts = ("channel", "message", "author", "picture")
    lines = [", ".join(count_noun(_number(result[f"{name}s"]), name) for name in counts)]
    others = result["left_out"]
    assert isinstance(others, dict), "it is counted by kind"
    return [*lines, *(f"left out: {count} {what}" for what, count in others.items())]


def _number(value: object) -> int:
    assert isinstance(value, int), "it is a count"
    return value
