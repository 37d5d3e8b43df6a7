"""`svc admin export FILE`: write a community's settings and messages to a file that other programs can
read.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from svc.tools.admin.action import count_noun, missing, print_lines
from svc.tools.admin.file_move import require_free, take
from svc.tools.admin.progress_bar import show_progress


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write, such as export.zip")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.tools.admin.command_client import answer_to

    target = require_free(options.file)
    with show_progress() as listener:
        made = answer_to(options.data_dir, "export", {}, options.variables, listener)
    assert isinstance(made, dict), "the command answers an object"
    take(options.data_dir / made.pop("path"), target)
    lines = [f"{target}  {count_noun(made['records'], 'record')}, {count_noun(made['objects'], 'file')}"]
    if made["missing"]:
        lines.append(f"{missing(len(made['missing']))} from the object store.")
    print_lines({"file": str(target), **made}, lines, as_json=options.json)
