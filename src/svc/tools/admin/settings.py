"""`svc admin settings`: the owner's settings."""

from argparse import ArgumentParser, Namespace

from svc.tools.admin.action import Action

_SPELT = {"true": True, "false": False}


def _one(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("value", metavar="VALUE")


def _changes(options: Namespace) -> dict[str, object]:
    return {options.name: _SPELT.get(options.value, options.value)}


def _reset(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")


ACTIONS = (
    Action("get", "show all settings", "settings_get"),
    Action("set", "change one setting", "settings_set", _one, _changes),
    Action("reset", "reset a setting to its default", "settings_set", _reset, lambda o: {o.name: None}),
)
