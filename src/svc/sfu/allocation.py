"""Divide the line to one receiver among the videos that it receives.

docs/bandwidth.md.
"""

from dataclasses import dataclass

ALL_LAYERS = -1


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of a track that the line permits."""

    spatial: int = ALL_LAYERS
    temporal: int = ALL_LAYERS
    paused: bool = False


UNLIMITED = Limit()
PAUSED = Limit(paused=True)
