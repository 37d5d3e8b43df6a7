"""Readers for configuration variables, taken from any mapping of names to text.

An empty value counts as unset, as compose files write it. Does not read the process's
environment (the commands do, and pass it in) and knows no variable of any program.
"""

from collections.abc import Mapping

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


class ConfigError(Exception):
    """A variable that cannot be used; the message names it and says what is expected."""


def text(variables: Mapping[str, str], name: str, default: str = "") -> str:
    return variables.get(name, "").strip() or default


def required(variables: Mapping[str, str], name: str, purpose: str) -> str:
    """The value, or a ConfigError that says what the variable is for."""
    if value := text(variables, name):
        return value
    raise ConfigError(f"{name} must be set: {purpose}")


def number(
    variables: Mapping[str, str], name: str, default: int, *, minimum: int = 0, maximum: int | None = None
) -> int:
    """A whole number within the bounds, both included."""
    value = text(variables, name)
    if not value:
        return default
    # Only ASCII digits: int() would also take "1_000" and digits of other scripts.
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ConfigError(f"{name} must be a whole number, not {value!r}")
    parsed = int(value)
    if parsed < minimum or (maximum is not None and parsed > maximum):
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ConfigError(f"{name} must be {bounds}, not {parsed}")
    return parsed


def clamped(variables: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """A whole number, brought within the bounds where it is outside."""
    return max(low, min(high, number(variables, name, default, minimum=-(10**17), maximum=10**17)))


def port(variables: Mapping[str, str], name: str, default: int) -> int:
    """A port; 0 lets the system choose a free one."""
    return number(variables, name, default, maximum=65535)


def flag(variables: Mapping[str, str], name: str, default: bool) -> bool:
    """True or false in the usual spellings; any other value leaves the default in force.

    The spec words it so: "on unless set to false", "is not true".
    """
    value = text(variables, name).lower()
    if default:
        return value not in _FALSE
    return value in _TRUE


def items(variables: Mapping[str, str], name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A comma-separated list, blanks dropped; the default when the variable is unset."""
    value = text(variables, name)
    if not value:
        return default
    return tuple(item for part in value.split(",") if (item := part.strip()))
