"""Checks every frame that test members receive on a live socket against the AsyncAPI document."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.live_document import live_document


def check(frame: Mapping[str, Any]) -> None:
    """Check that a frame matches the description of its event.

    Events that exist only in tests are accepted.
    """
    event = frame["event"]
    name = f"{event}.reply" if "id" in frame and event != "error" else event
    validator = _validators().get(name)
    if validator is not None:
        problems = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(frame)]
        assert problems == [], f"{name} does not match /asyncapi.json"


@cache
def _validators() -> dict[str, Any]:
    document: dict[str, Any] = live_document(feature_descriptions(), "1.0.0")
    return {
        name: jsonschema_rs.validator_for({**message["payload"], "components": document["components"]})
        for name, message in document["channels"]["live"]["messages"].items()
    }
