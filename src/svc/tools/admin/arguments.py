"""The command line of `svc admin`: every subject with its actions, and how one is run.

What can be asked about a subject stands in its file. Light, for every `svc` command reads
this. Design: contract 2 of section 4.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from svc.tools.admin import invites, members, settings
from svc.tools.admin.action import Action, line_of_json

SUBJECTS: Mapping[str, Sequence[Action]] = {
    "settings": settings.ACTIONS,
    "invite": invites.ACTIONS,
    "member": members.ACTIONS,
}


def add(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data-dir", type=Path, default=Path("data"), help="that of the server")
    common.add_argument("--json", action="store_true", help="one line of JSON")
    whats = parser.add_subparsers(dest="admin_command", required=True, metavar="WHAT")
    for subject, actions in SUBJECTS.items():
        rows = whats.add_parser(subject).add_subparsers(dest="admin_action", required=True, metavar="ACTION")
        for action in actions:
            row = rows.add_parser(action.name, help=action.help, parents=[common])
            action.add(row)
            row.set_defaults(run=_run, action=action)


def _run(options: argparse.Namespace) -> None:
    from svc.tools.admin.asking import answer_to

    action: Action = options.action
    result = answer_to(options.data_dir, action.command, action.arguments(options))
    for line in [line_of_json(result)] if options.json else action.shown(result):
        print(line)
    sys.stdout.flush()
