"""`svc admin backup FILE`: write a whole server, running or stopped, to one file.

The server writes the file in its own data folder, which may be the only place where it can write. This
command then moves the file to the target.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from svc.tools.admin.action import count_noun, missing, print_lines
from svc.tools.admin.file_move import require_free, take
from svc.tools.admin.progress_bar import show_progress


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write, such as backup.tar.gz")
    parser.add_argument("--damaged", action="store_true", help="also back up a damaged database")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.tools.admin.command_client import answer_to

    target = require_free(options.file)
    with show_progress() as listener:
        made = answer_to(
            options.data_dir, "backup", {"damaged": options.damaged}, options.variables, listener
        )
    assert isinstance(made, dict), "the command answers an object"
    take(options.data_dir / made.pop("path"), target)
    lines = [
        f"{target}  {count_noun(made['bytes'], 'byte')}, database and {count_noun(made['objects'], 'file')}",
        "It contains the secrets of this server: keep it where nobody else can read it.",
    ]
    if made["missing"]:
        lines.append(f"{missing(len(made['missing']))} from the object store.")
    if made["damaged"]:
        damaged = f"{count_noun(len(made['damaged']), 'stored file')} cut off or changed"
        lines.append(f"{damaged}: {', '.join(made['damaged'][:5])}")
    if made["faults"]:
        lines.append(f"The database in it is damaged: {made['faults'][0]}. Keep the older backups.")
    print_lines({"file": str(target), **made}, lines, as_json=options.json)
