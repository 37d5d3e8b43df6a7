"""`svc admin settings`: what the owner has set."""

from argparse import ArgumentParser, Namespace

from svc.tools.admin.action import Action

_SPELT = {"true": True, "false": False}


def _one(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("value", metavar="VALUE")


def _changed(options: Namespace) -> dict[str, object]:
    return {options.name: _SPELT.get(options.value, options.value)}


ACTIONS = (
    Action("get", "show all", "settings_get"),
    Action("set", "change one", "settings_set", _one, _changed),
)
