"""LayerSelector: selects the frames of a track that one receiver gets."""

from collections.abc import Iterable

class Selector:
    def set_target(self, target: int) -> None: ...
    def set_max_spatial(self, limit: int) -> None: ...
    def forget(self) -> None: ...
    def decide(
        self,
        number: int,
        spatial_id: int,
        temporal_id: int,
        switch_to: Iterable[int],
        dependencies: Iterable[int],
        opens: Iterable[int] = (),
    ) -> bool: ...
