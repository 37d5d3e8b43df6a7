"""A history page stays in the cache until it expires or its channel is written to."""

import pytest

from svc.chat.messages.message import MEMBER, Author, Message
from svc.chat.messages.page_cache import MAX_PAGES, HistoryPage, PageCache, PageKey

NEWEST = PageKey("general", 50)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Store:
    """A store that counts reads and calls `during` while each one runs."""

    def __init__(self) -> None:
        self.reads = 0

    async def read(self) -> HistoryPage:
        self.reads += 1
        author = Author(MEMBER, "ada", "Ada")
        return HistoryPage((Message(self.reads, "id", "general", author, "text"),), False, False)


async def test_a_page_is_read_from_the_store_only_once_until_it_expires() -> None:
    clock, store = Clock(), Store()
    pages = PageCache(30.0, clock)
    first = await pages.page(NEWEST, store.read)
    clock.now = 29.9
    assert await pages.page(NEWEST, store.read) is first
    clock.now = 30.0
    await pages.page(NEWEST, store.read)
    assert store.reads == 2


async def test_a_write_to_a_channel_invalidates_only_its_own_pages() -> None:
    store = Store()
    pages = PageCache(30.0, Clock())
    await pages.page(NEWEST, store.read)
    pages.written("elsewhere")
    await pages.page(NEWEST, store.read)
    assert store.reads == 1
    pages.written("general")
    await pages.page(NEWEST, store.read)
    assert store.reads == 2


async def test_a_page_read_during_a_write_is_not_cached() -> None:
    store = Store()
    pages = PageCache(30.0, Clock())

    async def read_during_write() -> HistoryPage:
        page = await store.read()
        pages.written("general")
        return page

    await pages.page(NEWEST, read_during_write)
    assert len(pages) == 0
    await pages.page(NEWEST, store.read)
    assert store.reads == 2


async def test_the_least_recently_used_page_is_evicted() -> None:
    store = Store()
    pages = PageCache(30.0, Clock())
    for number in range(MAX_PAGES + 1):
        await pages.page(PageKey("general", 50, before=number), store.read)
    assert len(pages) == MAX_PAGES
    await pages.page(PageKey("general", 50, before=MAX_PAGES), store.read)
    assert store.reads == MAX_PAGES + 1
    await pages.page(PageKey("general", 50, before=0), store.read)
    assert store.reads == MAX_PAGES + 2


@pytest.mark.parametrize("ttl_s", [0.0, -1.0])
async def test_a_lifetime_of_zero_disables_the_cache(ttl_s: float) -> None:
    store = Store()
    pages = PageCache(ttl_s, Clock())
    for _ in range(2):
        await pages.page(NEWEST, store.read)
    assert (store.reads, len(pages)) == (2, 0)
