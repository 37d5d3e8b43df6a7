"""`svc admin backup FILE`: everything of a server, running or not, in one file.

The server makes it in its own folder, which is all that it may be able to write; from there it
is taken to where it is wanted.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from svc.tools.admin.action import printed
from svc.tools.admin.bar import shown
from svc.tools.admin.taking import free_place, take


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="to write, such as backup.tar.gz")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.tools.admin.asking import answer_to

    target = free_place(options.file)
    with shown() as listener:
        made = answer_to(options.data_dir, "backup", {}, options.variables, listener)
    assert isinstance(made, dict), "the command answers an object"
    take(options.data_dir / made.pop("path"), target)
    lines = [
        f"{target}  {made['bytes']} bytes, {made['objects']} files beside the database",
        "It holds the secrets of this server: keep it where nobody else can read it.",
    ]
    if made["missing"]:
        lines.append(f"{len(made['missing'])} files were missing from the object store.")
    printed({"file": str(target), **made}, lines, as_json=options.json)
