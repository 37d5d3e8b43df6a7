"""Where a channel stands: its place in the list and its category. Decides; changes nothing."""

from collections.abc import Sequence

from svc.chat.access.directory import CATEGORY, VOICE, Channel, Directory
from svc.chat.channels.wanted import Differences
from svc.chat.errors import ChatError


def check(channel: Channel) -> None:
    """Refuse a channel that cannot be as it is given. Raises ChatError."""
    if channel.kind != VOICE and (channel.user_limit or channel.bitrate_kbps):
        raise ChatError("invalid_request", "Only a voice channel has user_limit and bitrate_kbps")
    if channel.kind == CATEGORY and (channel.slow_mode_s or channel.archived):
        raise ChatError("invalid_request", "A category has no slow mode and is not archived")


def check_category(directory: Directory, actor_id: str | None, channel: Channel) -> None:
    """Refuse a category that is none, or that the actor does not see. Raises ChatError."""
    if channel.parent_id is None:
        return
    if channel.kind == CATEGORY:
        raise ChatError("invalid_request", "A category cannot be in another category")
    parent = directory.channels.get(channel.parent_id)
    if parent is None or (actor_id is not None and parent not in directory.visible_channels(actor_id)):
        raise ChatError("unknown_channel", "There is no such category")
    if parent.kind != CATEGORY:
        raise ChatError("invalid_request", "parent_id must be the id of a category")


def ordered(visible: Sequence[Channel], wanted: Sequence[str]) -> dict[str, Differences]:
    """The places of those that move, where `wanted` are the ids of `visible` in their new order.

    Channels that are not among them keep their places: those of the others are given out again, and made to
    differ where they did not.
    """
    places: list[int] = []
    for channel in visible:
        places.append(max(channel.position, places[-1] + 1 if places else 0))
    before = {channel.id: channel.position for channel in visible}
    return {
        channel_id: {"position": place}
        for channel_id, place in zip(wanted, places, strict=True)
        if before[channel_id] != place
    }
