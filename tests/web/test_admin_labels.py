"""Tests that the web client has a label for each of the server's permissions and audited actions."""

import ast
import re
from pathlib import Path

import pytest

import svc.chat
from svc.chat.access.permissions import EVERYTHING, OF_A_CHANNEL, names
from svc.chat.channels.responses import ChannelChanges
from svc.chat.pages.routes import WEB_FOLDER
from tests.web.test_translations import messages

PERMISSIONS = (WEB_FOLDER / "state" / "admin" / "permissions.js").read_text()
GROUP = re.compile(r'name: "(\w+)",\s*permissions: \[([^\]]*)\]')


def groups() -> dict[str, list[str]]:
    return {name: re.findall(r'"(\w+)"', inside) for name, inside in GROUP.findall(PERMISSIONS)}


def test_every_permission_is_listed_once() -> None:
    assert {name for group in groups().values() for name in group} == {*names(EVERYTHING)}


def test_the_client_knows_which_permissions_a_channel_can_override() -> None:
    first, second, *_ = groups().values()
    assert sorted(first + second) == sorted(names(OF_A_CHANNEL))


@pytest.mark.parametrize("permission", sorted(names(EVERYTHING)))
def test_a_permission_has_a_name_and_a_description(permission: str) -> None:
    dashed = permission.replace("_", "-")
    assert messages("en")[f"permission-{dashed}"]
    assert messages("en")[f"permits-{dashed}"].rstrip().endswith(".")


def test_every_audited_action_has_a_description() -> None:
    module = (WEB_FOLDER / "state" / "admin" / "audit.js").read_text()
    table = module[module.index("ACTIONS = {") : module.index("};")]
    listed = re.findall(r'"(\w+)"', table)
    assert sorted(listed) == sorted(recorded())
    for action in listed:
        dashed = action.replace("_", "-")
        assert {f"audit-{dashed}", f"act-{dashed}"} <= messages("en").keys(), action


def test_every_channel_property_has_a_label() -> None:
    changed = {f"field-{name.replace('_', '-')}" for name in ChannelChanges.__struct_fields__}
    assert changed <= messages("en").keys()


def keeps_audit(node: ast.AST) -> bool:
    return getattr(node, "attr", None) == "_audit" or getattr(node, "id", None) == "audit"


def recorded() -> set[str]:
    """Return the literal actions passed to `record`, including those passed in a variable named `action`."""
    actions: set[str] = set()
    for path in (Path(svc.chat.__file__).parent).rglob("*.py"):
        tree = ast.parse(path.read_text())
        if not any(keeps_audit(node) for node in ast.walk(tree)):
            continue
        for node in ast.walk(tree):
            actions |= _actions(node)
    return actions


def _actions(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["action"]:
        return _texts(node.value)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return set()
    at = {"record": 2, "_record": 2, "_rewrite": 2, "_noting": 1}.get(node.func.attr)
    if at is None:
        return set()
    actions = [keyword.value for keyword in node.keywords if keyword.arg == "action"]
    return set().union(*(_texts(value) for value in [*node.args[at : at + 1], *actions]))


def _texts(value: ast.AST) -> set[str]:
    """Return the string literals to which a literal or a conditional expression can evaluate."""
    if isinstance(value, ast.IfExp):
        return _texts(value.body) | _texts(value.orelse)
    return {value.value} if isinstance(value, ast.Constant) and isinstance(value.value, str) else set()
