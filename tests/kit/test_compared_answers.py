"""The responses of two checkouts are compared by content, ignoring values that differ in every run."""

import pytest

from tests.kit.compared_answers import Comparison, compared
from tests.kit.described_requests import Json


def answer(status: int = 200, **body: object) -> Json:
    return {"status": status, "type": "application/json", "body": body}


FIRST, AGAIN = (answer(id=made, name="crew", roles=[{"rank": 1}]) for made in ("a", "b"))


def compare(first: Json, again: Json, new: Json) -> Comparison:
    return compared({"it": first}, {"it": again}, {"it": new})


@pytest.mark.parametrize(
    ("new", "different"),
    [
        (answer(id="c", name="crew", roles=[{"rank": 1}]), []),
        (answer(id=3, name="crew", roles=[{"rank": 1}]), ['body.id was "a", is 3']),
        (answer(id="c", name="band", roles=[{"rank": 1}]), ['body.name was "crew", is "band"']),
        (answer(id="c", name="crew"), ["body.roles is gone"]),
        (answer(id="c", name="crew", roles=[]), ["body.roles had 1 entries, has 0"]),
        (answer(id="c", name="crew", roles=[{"rank": 1, "color": 2}]), ["body.roles[].color is new"]),
        (answer(201, id="c", name="crew", roles=[{"rank": 1}]), ["status was 200, is 201"]),
    ],
)
def test_a_difference_is_reported_with_its_path(new: Json, different: list[str]) -> None:
    comparison = compare(FIRST, AGAIN, new)
    assert comparison.different == {path: ["it"] for path in different}
    assert comparison.alike == ([] if different else ["it"])


def test_a_changed_error_message_is_reported_separately() -> None:
    first, new = (answer(400, error="invalid_request", message=text) for text in ("Too long", "Too short"))
    comparison = compare(first, first, new)
    assert comparison.reworded == {'body.message was "Too long", is "Too short"': ["it"]}
    assert not comparison.different
    assert next(comparison.lines()).startswith("0 answers alike, 1 alike but for the text")


@pytest.mark.parametrize("again", [answer(202), answer(id="a"), answer(error="other"), answer(id=["a"])])
def test_only_requests_that_exist_in_both_checkouts_are_compared(again: Json) -> None:
    comparison = compare(answer(error="one"), again, answer(error="a third"))
    assert (comparison.unstable, comparison.different) == (["it"], {})


def test_objects_whose_keys_are_ids_are_compared_by_position() -> None:
    first, again, new = (
        answer(channels={f"019a0000-0000-7000-8000-00000000000{run}": ["speak"]}) for run in range(3)
    )
    comparison = compare(first, again, new)
    assert (comparison.alike, comparison.unstable) == (["it"], [])
