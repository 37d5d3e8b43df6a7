"""The images of a post are kept as long as its message exists. Then the sweep deletes them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from svc.chat.media.stored_media import Media, ObjectInfo
from svc.chat.media.sweep import Sweep
from svc.chat.webhooks.payload import WantedPicture
from svc.chat.webhooks.pictures import StoredPictures
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight

PIXELS = b"pixels, as far as the store cares"
CARD = {"title": "card", "image_url": "https://pictures.example/i.png"}


@dataclass
class KeptPictures:
    """An image collector that stores an image for each request without downloading anything."""

    media: Media

    async def collect(self, wanted: Sequence[WantedPicture], holder: str) -> StoredPictures:
        kept = {}
        for picture in wanted:
            key = await self.media.keep(PIXELS, "webp", ObjectInfo("image/webp", width=1, height=1))
            kept[picture.path] = {"key": key, "content_type": "image/webp", "width": 1, "height": 1}
        return StoredPictures(kept, [])


async def test_the_sweep_keeps_the_images_of_a_message_until_it_is_deleted(
    variables: dict[str, str],
) -> None:
    async with server_with_insight({**variables, "STORAGE_BACKEND": "filesystem"}) as (chat, community):
        owner = await newcomer(chat, "Owner")
        community.messaging.posting.collect = KeptPictures(community.media).collect
        hook = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
        payload = {"text": "a", "avatar_url": "https://pictures.example/a.png", "cards": [CARD]}
        async with chat.http.post(f"/api/webhooks/{hook['id']}/{hook['token']}", json=payload) as response:
            message_id = (await response.json())["message_id"]
        # The sweep never deletes files that are less than a minute old.
        community.media._in_hand.clear()
        sweep = Sweep(community.media._database, community.media, 1000, 0, lambda: time.time() + 3600)
        assert await sweep.run_once() == 0
        await owner.done("DELETE", f"/api/channels/general/messages/{message_id}")
        assert await sweep.run_once() == 2
