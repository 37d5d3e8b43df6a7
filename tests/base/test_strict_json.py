"""Untrusted JSON is either parsed or rejected with a ValueError."""

import pytest

from svc.base.strict_json import loads, loads_object


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[-Infinity]",
        "[" * 100_000,
        "9" * 5000,
        '"\\ud800"',
        '{"\\uDC00":1}',
    ],
)
def test_values_that_would_cause_failures_later_are_rejected(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


def test_a_paired_surrogate_escape_is_an_ordinary_character() -> None:
    assert loads('"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("text", ["[]", "null", '"text"', "1"])
def test_a_value_that_is_not_an_object_is_rejected_where_an_object_is_required(text: str) -> None:
    with pytest.raises(ValueError, match="not an object"):
        loads_object(text)
