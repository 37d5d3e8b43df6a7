"""Defines the parts of Discord's, Slack's and GitHub's formats that the compatible endpoints use.

The types describe these endpoints in OpenAPI. Other keys are ignored. Payloads are read by `payload_reader`,
which tolerates values that these types do not.
"""

from msgspec import UNSET, UnsetType

from svc.chat.endpoints import Request


class Picture(Request):
    url: str | None = None


class EmbedFooter(Request):
    text: str | None = None
    icon_url: str | None = None


class EmbedAuthor(Request):
    name: str | None = None
    url: str | None = None
    icon_url: str | None = None


class EmbedField(Request):
    name: str | None = None
    value: str | None = None
    inline: bool | None = None


class Embed(Request):
    title: str | None = None
    description: str | None = None
    url: str | None = None
    timestamp: str | None = None
    color: int | None = None
    footer: EmbedFooter | None = None
    image: Picture | None = None
    thumbnail: Picture | None = None
    author: EmbedAuthor | None = None
    fields: list[EmbedField] | None = None


class DiscordPost(Request):
    content: str | None = None
    username: str | None = None
    avatar_url: str | None = None
    embeds: list[Embed] | None = None


class DiscordMessage(Request):
    id: str
    channel_id: str
    content: str


class DiscordRefusal(Request):
    code: int
    message: str
    retry_after: float | UnsetType = UNSET


class AttachmentField(Request):
    title: str | None = None
    value: str | None = None
    short: bool | None = None


class SlackAttachment(Request):
    fallback: str | None = None
    color: str | None = None
    pretext: str | None = None
    title: str | None = None
    title_link: str | None = None
    text: str | None = None
    footer: str | None = None
    author_name: str | None = None
    author_link: str | None = None
    author_icon: str | None = None
    footer_icon: str | None = None
    image_url: str | None = None
    thumb_url: str | None = None
    fields: list[AttachmentField] | None = None
    ts: float | str | None = None


class Block(Request):
    type: str


class SlackPost(Request):
    text: str | None = None
    username: str | None = None
    icon_url: str | None = None
    mrkdwn: bool | None = None
    attachments: list[SlackAttachment] | None = None
    blocks: list[Block] | None = None


class Repository(Request):
    full_name: str | None = None


class Sender(Request):
    login: str | None = None


class GithubEvent(Request):
    action: str | None = None
    repository: Repository | None = None
    sender: Sender | None = None


class GithubRefusal(Request):
    error: str
    message: str
