"""Variables are read from any mapping. Errors name the variable and explain the expected value."""

import pytest

from svc.base.config_parsing import ConfigError, flag, items, number, port, require, text


def test_an_empty_value_counts_as_unset() -> None:
    variables = {"A": "", "B": "  "}
    assert text(variables, "A", "default") == "default"
    assert number(variables, "B", 7) == 7
    assert items(variables, "A", ("x",)) == ("x",)
    assert flag(variables, "B", True)


def test_spaces_around_a_value_are_dropped() -> None:
    assert text({"A": " value "}, "A") == "value"


def test_the_error_for_a_missing_variable_names_the_variable_and_its_purpose() -> None:
    assert require({"KEY": "k"}, "KEY", "it signs") == "k"
    with pytest.raises(ConfigError, match="KEY must be set: it signs"):
        require({}, "KEY", "it signs")


@pytest.mark.parametrize("value", ["many", "1.5", "1_000", "٣", "--1", "-", "9" * 30])
def test_the_error_for_a_value_that_is_not_an_integer_names_the_variable(value: str) -> None:
    with pytest.raises(ConfigError, match="MAX_PEERS must be a whole number"):
        number({"MAX_PEERS": value}, "MAX_PEERS", 200)


def test_the_error_for_a_number_outside_its_bounds_names_the_bounds() -> None:
    with pytest.raises(ConfigError, match="SIZE must be from 1 to 4, not 5"):
        number({"SIZE": "5"}, "SIZE", 2, minimum=1, maximum=4)
    with pytest.raises(ConfigError, match="SIZE must be at least 0, not -1"):
        number({"SIZE": "-1"}, "SIZE", 2)


def test_a_port_must_be_below_65536() -> None:
    assert port({"PORT": "65535"}, "PORT", 5000) == 65535
    with pytest.raises(ConfigError, match="PORT"):
        port({"PORT": "65536"}, "PORT", 5000)


@pytest.mark.parametrize(
    ("value", "default", "read"),
    [
        ("true", False, True),
        ("Yes", False, True),
        ("false", True, False),
        ("0", True, False),
        ("perhaps", True, True),
        ("perhaps", False, False),
    ],
)
def test_a_flag_accepts_only_known_words_and_warns_about_other_values(
    value: str, default: bool, read: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert flag({"DEBUG": value}, "DEBUG", default) is read
    warned = [record.getMessage() for record in caplog.records]
    known = value != "perhaps"
    assert warned == (
        [] if known else [f"DEBUG must be true or false, not 'perhaps': using {str(read).lower()}"]
    )


@pytest.mark.parametrize("value", [",", " , ,"])
def test_the_error_for_a_list_of_only_commas_names_the_variable(value: str) -> None:
    with pytest.raises(ConfigError, match="SVC_IDENTITY_TIERS must be empty or a list without empty items"):
        items({"SVC_IDENTITY_TIERS": value}, "SVC_IDENTITY_TIERS", ("account",))


def test_empty_items_in_a_list_are_dropped() -> None:
    assert items({"A": "one, two ,,three,"}, "A") == ("one", "two", "three")
