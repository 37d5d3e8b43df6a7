"""The types of fields that requests of every feature have. The floor of chat; knows no feature."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

Data = Mapping[str, object]
MAX_ID_CHARACTERS = 128
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]
Natural = Annotated[int, Meta(ge=0)]
TimeMs = Natural
