"""Keeps items sorted, so that one page of a long list can be read without sorting or copying the list.

Callers choose the order and the contents of a page.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

_T = TypeVar("_T")
Place = tuple[str, str]


class OrderedItems(Generic[_T]):
    """Items sorted by place. A place is a sort key that ends with the item's id, so no two places are equal.

    The items are sorted when they are first listed. After that, only items that change are moved.
    """

    def __init__(self, things: Mapping[str, _T], place_of: Callable[[_T], Place]) -> None:
        self._things = things
        self.place_of = place_of
        self._places: list[Place] | None = None

    def changed(self, before: _T | None, after: _T | None) -> None:
        """Move an item that has changed to its new position. `before` is None for a new item, and `after` is
        None for a removed item.
        """
        if self._places is None:
            return
        old = None if before is None else self.place_of(before)
        new = None if after is None else self.place_of(after)
        if old == new:
            return
        if old is not None:
            del self._places[bisect_left(self._places, old)]
        if new is not None:
            insort(self._places, new)

    def iterate(self, after: Place | None, *, backwards: bool) -> Iterator[_T]:
        """Yield the items in order, starting after the given place, if any."""
        if self._places is None:
            self._places = sorted(map(self.place_of, self._things.values()))
        places = self._places
        if backwards:
            end = len(places) if after is None else bisect_left(places, after)
            indices = range(end - 1, -1, -1)
        else:
            indices = range(0 if after is None else bisect_right(places, after), len(places))
        return (self._things[places[index][1]] for index in indices)
