"""Opens and closes the views that `tests.kit.screens` captures.

Each view is a context manager. It expects the person to have #general open, and returns the person to
#general.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from playwright.async_api import expect

from tests.kit.browser_users import DRAWER_UP_TO, WIDE, Person
from tests.kit.text_channels import box, message, open_channel, press_at

View = Callable[[Person], AbstractAsyncContextManager[None]]
Opener = Callable[[Person], Awaitable[object]]
OWNER_PAGES = {"This server", "Health", "Storage", "Backups"}
SETTINGS_PAGES = (
    "Profile", "Appearance and language", "Voice and video", "Notifications", "Devices", "Servers",
    "Your data", "This server", "Channels", "Members", "Invites", "Roles", "Emoji", "Automatic moderation",
    "Reports", "Bans", "Audit log", "Webhooks", "Bots", "Health", "Storage", "Backups",
)  # fmt: skip


def is_narrow(person: Person) -> bool:
    return (person.page.viewport_size or WIDE)["width"] <= DRAWER_UP_TO


@asynccontextmanager
async def conversation(person: Person) -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def empty_channel(person: Person) -> AsyncIterator[None]:
    await open_channel(person, "kitchen")
    yield
    await open_channel(person, "general")


@asynccontextmanager
async def channels(person: Person) -> AsyncIterator[None]:
    await person.show_channels()
    yield
    await person.hide_channels()


def dialog(opens: Opener, *, from_list: bool = False) -> View:
    """Return the view of a dialog. `from_list` means that the dialog's button is in the list of channels."""

    @asynccontextmanager
    async def view(person: Person) -> AsyncIterator[None]:
        if from_list:
            await person.show_channels()
        await opens(person)
        await expect(person.page.get_by_role("dialog").first).to_be_visible()
        yield
        await person.page.keyboard.press("Escape")
        await expect(person.page.get_by_role("dialog")).to_have_count(0)
        await person.hide_channels()

    return view


def side_panel(name: str, prepare: Opener | None = None) -> View:
    """Return the view of a panel next to the channel."""

    @asynccontextmanager
    async def view(person: Person) -> AsyncIterator[None]:
        panel = person.page.locator(".aside-body")
        if await panel.count():  # A wide window shows the member list at first.
            await panel.get_by_role("button", name="Close").click()
        # A button's name can end with the number of mentions.
        await person.page.locator(".head-actions").get_by_role("button", name=name).click()
        await expect(panel).to_be_visible()
        if prepare:
            await prepare(person)
        yield
        await panel.get_by_role("button", name="Close").click()

    return view


def popup(opens: Opener, shown: str) -> View:
    """Return the view of a menu or a picker. `shown` is the CSS selector of its first item."""

    @asynccontextmanager
    async def view(person: Person) -> AsyncIterator[None]:
        await opens(person)
        await expect(person.page.locator(shown).first).to_be_visible()
        yield
        await person.page.keyboard.press("Escape")
        await expect(person.page.locator(shown)).to_have_count(0)

    return view


@asynccontextmanager
async def completion(person: Person) -> AsyncIterator[None]:
    await box(person).fill("")
    await box(person).press_sequentially("@a")
    await expect(person.page.get_by_role("option").first).to_be_visible()
    yield
    await box(person).fill("")


@asynccontextmanager
async def replying(person: Person) -> AsyncIterator[None]:
    await press_at(message(person, "Three is right"), "Reply")
    await box(person).fill("That works.\nI bring the **map** and `two` flasks.")
    yield
    await box(person).fill("")
    await person.page.keyboard.press("Escape")


def settings_name(page: str) -> str:
    return f"settings-{page.lower().replace(' ', '-')}"


def settings_page(name: str) -> View:
    @asynccontextmanager
    async def view(person: Person) -> AsyncIterator[None]:
        page = person.page
        await page.keyboard.press("Control+,")
        await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        entry = page.get_by_role("navigation", name="Settings pages").get_by_role(
            "button", name=name, exact=True
        )
        await entry.click()
        await expect(page.get_by_role("region", name=name, exact=True)).to_be_visible()
        await expect(page.get_by_role("dialog").get_by_text("Loading…", exact=True)).to_have_count(0)
        yield
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)

    return view


async def open_role(person: Person) -> None:
    await person.page.keyboard.press("Control+,")
    entries = person.page.get_by_role("navigation", name="Settings pages")
    await entries.get_by_role("button", name="Roles", exact=True).click()
    await person.press("Edit Bakers")


async def rename_role(person: Person) -> None:
    await open_role(person)
    await person.page.get_by_label("Name", exact=True).fill("Bread and cakes")


@asynccontextmanager
async def role_picker(person: Person) -> AsyncIterator[None]:
    async with dialog(open_role)(person):
        await person.page.get_by_label("Add a member").click()
        await expect(person.page.locator(".offered button").first).to_be_visible()
        yield
        await person.page.keyboard.press("Escape")


async def open_channel_settings(person: Person) -> None:
    await person.press("About general")
    await person.press("Channel settings")


async def choose_at_bench(person: Person, item: str) -> None:
    await press_at(message(person, "I will bring"), "More")
    await person.page.get_by_role("menuitem", name=item).click()


@asynccontextmanager
async def thread(person: Person) -> AsyncIterator[None]:
    await choose_at_bench(person, "Reply in thread")
    await expect(person.page.locator(".thread")).to_be_visible()
    yield
    await person.page.locator(".thread > header").get_by_role("button", name="Close").click()


@asynccontextmanager
async def editing(person: Person) -> AsyncIterator[None]:
    own = message(person, "I bring" if person.name.startswith("Grace") else "Good morning")
    await press_at(own, "Edit")
    await expect(person.page.locator(".editor textarea")).to_be_visible()
    yield
    await person.page.keyboard.press("Escape")


def list_menu(button: str) -> View:
    """Return the view of a menu in the list of channels. `button` is the CSS selector of its button."""

    @asynccontextmanager
    async def view(person: Person) -> AsyncIterator[None]:
        await person.show_channels()
        await person.page.locator(button).click()
        await expect(person.page.locator(".menu")).to_be_visible()
        yield
        await person.page.keyboard.press("Escape")
        await person.hide_channels()

    return view


async def find_three(person: Person) -> None:
    await person.page.get_by_role("searchbox").fill("three")
    await person.page.keyboard.press("Enter")
    await expect(person.page.locator(".message-line").first).to_be_visible()


async def make_invite(person: Person) -> None:
    await person.press("Invite people")
    await person.press("Create link")
    await expect(person.page.get_by_role("img", name="QR code")).to_be_visible()


async def delete_message(person: Person) -> None:
    await press_at(message(person, "I will bring"), "More")
    await person.page.get_by_role("menuitem", name="Delete").click()


async def report_message(person: Person) -> None:
    await press_at(message(person, "I will bring"), "More")
    await person.page.get_by_role("menuitem", name="Report").click()


VIEWS: dict[str, View] = {
    "conversation": conversation,
    "channels": channels,
    "empty-channel": empty_channel,
    "members": side_panel("Members"),
    "search": side_panel("Search messages", find_three),
    "inbox": side_panel("Mentions"),
    "profile": dialog(lambda person: message(person, "Bread").locator(".author").click()),
    "emoji": popup(lambda person: person.press("Choose emoji"), "[role=gridcell]"),
    "message-menu": popup(lambda person: press_at(message(person, "I will bring"), "More"), ".menu"),
    "reaction-picker": popup(
        lambda person: press_at(message(person, "I will bring"), "React"), ".picker button"
    ),
    "completion": completion,
    "replying": replying,
    "about": dialog(lambda person: person.press("About general")),
    "delete": dialog(delete_message),
    "thread": thread,
    "editing": editing,
    "server-menu": list_menu(".server-name"),
    "own-menu": list_menu(".who-am-i"),
    "reacted": dialog(lambda person: choose_at_bench(person, "Reactions")),
    "forward": dialog(lambda person: choose_at_bench(person, "Forward")),
    "role": dialog(open_role),
    "unsaved": dialog(rename_role),
    "role-picker": role_picker,
    "channel-settings": dialog(open_channel_settings),
    "report": dialog(report_message),
    "lightbox": dialog(
        lambda person: person.page.locator(".message").get_by_role("link", name="beds").click()
    ),
    "jump": dialog(lambda person: person.page.locator(".day button").first.click()),
    "switcher": dialog(lambda person: person.page.keyboard.press("Control+k")),
    "shortcuts": dialog(lambda person: person.page.keyboard.press("Control+/")),
    "invite": dialog(make_invite, from_list=True),
    "create-channel": dialog(lambda person: person.press("Create text channel"), from_list=True),
    "join-call": dialog(lambda person: person.press("Join Voice with…"), from_list=True),
    **{settings_name(name): settings_page(name) for name in SETTINGS_PAGES},
}
OWNER_VIEWS = {settings_name(name) for name in OWNER_PAGES}
# The views of an open private conversation.
PRIVATE_VIEWS: dict[str, View] = {
    "private": conversation,
    "private-number": dialog(lambda person: person.press("About encryption")),
    "private-search": dialog(lambda person: person.press("Search private messages")),
}
