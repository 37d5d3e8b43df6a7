"""The command line of `svc admin`: every subject with its actions, and how one is run.

What can be asked about a subject stands in its file. Light, for every `svc` command reads
this. Design: contract 2 of section 4.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from svc.tools.admin import backup, export, importing, invites, jobs, members, restore, settings, webhooks
from svc.tools.admin.action import Action, printed

SUBJECTS: Mapping[str, Sequence[Action]] = {
    "settings": settings.ACTIONS,
    "invite": invites.ACTIONS,
    "member": members.ACTIONS,
    "webhook": webhooks.ACTIONS,
    "job": jobs.ACTIONS,
}


def add(parser: argparse.ArgumentParser, variables: Mapping[str, str]) -> None:
    """`variables` say where media is kept, when no server runs that knows."""
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
    backup.add(whats.add_parser("backup", help="everything in one file", parents=[common]))
    restore.add(whats.add_parser("restore", help="a folder made of a backup", parents=[common]))
    export.add(whats.add_parser("export", help="what other programs can read", parents=[common]))
    importing.add(whats.add_parser("import", help="from here, Discord or Slack", parents=[common]))
    parser.set_defaults(variables=variables)


def _run(options: argparse.Namespace) -> None:
    from svc.tools.admin.asking import answer_to

    action: Action = options.action
    arguments = action.arguments(options)
    result = answer_to(options.data_dir, action.command, arguments, options.variables)
    printed(result, action.shown(result), as_json=options.json)
