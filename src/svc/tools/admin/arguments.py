"""Defines the command line of `svc admin`, with its subjects and actions, and runs an action.

The subject modules define the actions. The wheel build also reads this file.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from svc.tools.admin import (
    applications,
    backup,
    bots,
    channels,
    cluster,
    export,
    import_command,
    invites,
    jobs,
    members,
    restore,
    settings,
    webhooks,
)
from svc.tools.admin.action import Action, Subject, print_lines

SUBJECTS: Mapping[str, Subject] = {
    "settings": Subject("show and change the server's settings", settings.ACTIONS),
    "channel": Subject("list, create, edit and delete channels", channels.ACTIONS),
    "member": Subject("roles, kicks, bans, and the owner", members.ACTIONS),
    "invite": Subject("invite links", invites.ACTIONS),
    "application": Subject("requests to join", applications.ACTIONS),
    "bot": Subject("bots and their tokens", bots.ACTIONS),
    "webhook": Subject("URLs that post in a channel", webhooks.ACTIONS),
    "cluster": Subject("the nodes of a community on several machines", cluster.ACTIONS),
    "job": Subject("uploads that the media worker processes", jobs.ACTIONS),
}
# The names of actions that show a subject without changing it. Each subject has exactly one of these actions,
# and it needs no arguments.
_SHOWING = ("list", "get", "status")
# Commands that apply to the whole server.
WHOLE: Mapping[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "backup": ("write everything to one file", backup.add),
    "restore": ("create a data folder from a backup", restore.add),
    "export": ("write a file that other programs can read", export.add),
    "import": ("read an export of svc, Discord or Slack", import_command.add),
}


def add(parser: argparse.ArgumentParser, variables: Mapping[str, str]) -> None:
    """Add the subcommands. `variables` are the environment variables that configure a stopped server's media
    store.
    """
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data-dir", type=Path, default=Path("data"), help="data folder of the server")
    common.add_argument("--json", action="store_true", help="print one line of JSON")
    subjects = parser.add_subparsers(dest="admin_command", required=True, metavar="WHAT")
    for name, subject in SUBJECTS.items():
        description = f"{_sentence(subject.help)}. Without an action: {_showing(subject)}."
        subject_parser = subjects.add_parser(name, help=subject.help, description=description)
        actions = subject_parser.add_subparsers(dest="admin_action", required=True, metavar="ACTION")
        for action in subject.actions:
            action_parser = actions.add_parser(action.name, help=action.help, parents=[common])
            action.add(action_parser)
            action_parser.set_defaults(run=_run, action=action)
    for name, (help_text, arguments_of) in WHOLE.items():
        arguments_of(
            subjects.add_parser(name, help=help_text, description=_sentence(help_text), parents=[common])
        )
    parser.set_defaults(variables=variables)


def with_action(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments of `svc admin`. If they name a subject but no action, the action that shows the
    subject is added.
    """
    match arguments:
        case [name, *rest] if name in SUBJECTS and not {"-h", "--help"}.intersection(rest):
            if not rest or rest[0].startswith("-"):
                return [name, _showing(SUBJECTS[name]), *rest]
    return arguments


def _showing(subject: Subject) -> str:
    return next(action.name for action in subject.actions if action.name in _SHOWING)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _run(options: argparse.Namespace) -> None:
    from svc.tools.admin.address import base_url
    from svc.tools.admin.command_client import answer_to

    action: Action = options.action
    arguments = action.arguments(options)
    result = answer_to(options.data_dir, action.command, arguments, options.variables)
    if action.linked is not None:
        result = action.linked(result, base_url(options.data_dir, options.variables))
    print_lines(result, action.shown(result), as_json=options.json)
