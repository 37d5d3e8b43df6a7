"""Response types for settings, derived from the fields of `Values`."""

from collections.abc import Iterable
from typing import Any, Literal, get_type_hints

from msgspec import UNSET, Struct, UnsetType, defstruct

from svc.chat.schemas import Response
from svc.chat.settings.setting_types import PUBLIC, SPECIFIED, Values

_TYPES = get_type_hints(Values, include_extras=True)


def _some(name: str, needed: Iterable[str], optional: Iterable[str] = ()) -> type[Struct]:
    """Return a response type with the given required and optional settings as fields."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        *((setting, _TYPES[setting]) for setting in needed),
        *((setting, _TYPES[setting] | UnsetType, UNSET) for setting in optional),
    ]
    return defstruct(name, fields, bases=(Response,))


AllSettings = _some("Settings", _TYPES)
SpecifiedSettings = _some("SpecifiedSettings", SPECIFIED)
# Members get the public settings, and the owner gets all settings.
VisibleSettings = _some("VisibleSettings", sorted(PUBLIC), sorted(_TYPES.keys() - PUBLIC))
ChangedSettings = _some("ChangedSettings", (), _TYPES)


class ManagementHealth(Response):
    ok: Literal[True]
