"""Keeps items sorted, so one page of a long list can be read without sorting or copying the list.

Callers choose the order and the contents of a page.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

_T = TypeVar("_T")
SortKey = tuple[str, str]


class OrderedItems(Generic[_T]):
    """Items sorted by key. A sort key ends with the item's id, so no two keys are equal.

    The items are sorted when first listed. After that, only changed items are moved.
    """

    def __init__(self, things: Mapping[str, _T], sort_key: Callable[[_T], SortKey]) -> None:
        self._things = things
        self.sort_key = sort_key
        self._sort_keys: list[SortKey] | None = None

    def changed(self, before: _T | None, after: _T | None) -> None:
        """Move a changed item to its new position. `before` is None for a new item, `after` for a removed
        one.
        """
        if self._sort_keys is None:
            return
        old = None if before is None else self.sort_key(before)
        new = None if after is None else self.sort_key(after)
        if old == new:
            return
        if old is not None:
            del self._sort_keys[bisect_left(self._sort_keys, old)]
        if new is not None:
            insort(self._sort_keys, new)

    def iterate(self, after: SortKey | None, *, backwards: bool) -> Iterator[_T]:
        """Yield the items in order, starting after the given sort key, if any."""
        if self._sort_keys is None:
            self._sort_keys = sorted(map(self.sort_key, self._things.values()))
        sort_keys = self._sort_keys
        if backwards:
            end = len(sort_keys) if after is None else bisect_left(sort_keys, after)
            indices = range(end - 1, -1, -1)
        else:
            indices = range(0 if after is None else bisect_right(sort_keys, after), len(sort_keys))
        return (self._things[sort_keys[index][1]] for index in indices)
