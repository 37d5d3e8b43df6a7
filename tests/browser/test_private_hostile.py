"""Hostile private messages cannot run code in the page or overflow their column."""

from collections.abc import Awaitable, Callable, Mapping

import pytest
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import save_view
from tests.browser.test_hostile_content import DROP, FOREIGN, HOSTILE, LONG, SIZES, TOO_WIDE
from tests.browser.test_private import messages
from tests.kit.browser_users import People, Person, until_still
from tests.kit.community import ask, open_settings, own_id
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import press_at, write
from tests.kit.wait import wait_until

# Returns the URL of the page's module with this name. The page loads the module some seconds after it starts.
LOADED = """(name) => {
  const fetched = performance.getEntriesByType("resource").map((each) => each.name);
  return fetched.find((each) => each.includes(`/state/private/${name}.js`));
}"""
# Sends messages that the composer would never create. MLS lets any member of the group send them.
SAY = """async ([own, id, all]) => {
  const { ownIdentity } = await import(own);
  const { device } = await ownIdentity();
  for (const content of all) {
    // A message that nobody can read yet is stored and sent later.
    const later = (error) => { if (error.status !== undefined) throw error; };
    await device.send(id, { v: 1, type: "message", key: crypto.randomUUID(), ...content }).catch(later);
  }
}"""
NAME = "<img src=x onerror=alert(1)>" + "W" * 52


def files(names: list[str]) -> list[dict[str, object]]:
    """Return references to files that do not exist."""
    types = [
        "image/png",
        "image/svg+xml",
        "text/html",
        "video/mp4",
        "audio/mpeg",
        '"><script>alert(1)</script>',
    ]
    secret = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    return [
        {
            "id": f"../../{number}",
            "key": secret,
            "digest": secret,
            "name": name[:100],
            "type": types[number % len(types)],
            "bytes": 2**24,
            "alt": HOSTILE["markdown"][number] + LONG,
            "width": 16_384,
            "height": 1 + number % 2 * 16_383,
        }
        for number, name in enumerate(names)
    ]


def everything(by: str) -> list[Mapping[str, object]]:
    # Each text with a code fence is a separate message, because the fence would affect the other texts.
    apart = [text for text in HOSTILE["markdown"] if "```" in text]
    together = [text for text in HOSTILE["markdown"] if text not in apart]
    lines = ["\n\n".join(together)[:4000], *apart, *HOSTILE["wide"], *HOSTILE["addresses"][-1:]]
    texts = [*lines, "\n".join(HOSTILE["addresses"]), "\n".join(HOSTILE["names"])]
    names = HOSTILE["file_names"]
    last = {"by": by, "key": "last"}
    return [
        {"type": "name", "text": NAME},
        *({"text": text} for text in texts),
        *({"text": LONG, "files": files(names[at : at + 10])} for at in range(0, len(names), 10)),
        {"text": "Files", "key": "last", "reply": {"by": by, "key": "last"}},
        *({"type": "reaction", "of": last, "emoji": sign, "on": True} for sign in reactions()),
        {"type": "<b>", "text": LONG},
        {"type": "removed", "who": "<img src=x onerror=alert(1)>"},
        {"type": "earlier", "ask": "<b>", "up_to": 1},
        {"text": {"toString": "x"}, "files": {"length": 1}},
        {"text": "The end", "reply": last},
    ]


def reactions() -> list[str]:
    return ["<img/src=x/onerror=alert(1)>", ":<script>:", ":__proto__:", "W" * 64, "\u202e👍", "constructor"]


@pytest.mark.nightly("channels render the same content daily, and private_content.test.mjs parses it")
async def test_hostile_private_messages_neither_run_code_nor_break_the_page(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    mallory = await people.arrive("W" * 32, reads="general")
    for person in (ada, mallory):
        await write(person, f"I am {person.name}")
    dialogs: list[str] = []
    requests: list[str] = []
    ada.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    ada.page.on("request", lambda request: requests.append(request.url))
    own = str(await ada.page.evaluate("() => location.origin"))
    group = await group_of(mallory, ada, await grace(people))
    await send_messages(mallory, group, everything(await own_id(mallory)))
    for person in (ada, mallory):
        await person.resize(SIZES["wide"])
        await person.page.locator("#private-talks").get_by_role("button", name=NAME).click()
        await expect(messages(person).last).to_have_text("The end")

    await mallory.page.locator("#private-draft").evaluate(
        DROP, [HOSTILE["file_names"][:9], list(encoded(scene(1600, 900), "PNG"))]
    )
    await expect(mallory.page.locator("#private .upload-list li[data-state=done]")).to_have_count(10)
    overflow = await too_wide(mallory, {"what Mallory is about to send": leave_open})
    await mallory.page.locator("#private-draft").press("Enter")
    await expect(ada.page.locator("#private .message").last.locator(".file")).to_have_count(9)

    overflow += await too_wide(ada, views(ada))
    await report(ada)
    overflow += await too_wide(ada, {"the report": leave_open})
    for person in (ada, mallory):
        assert await person.page.locator(FOREIGN).count() == 0
    assert overflow == [], "\n".join(overflow)
    foreign = [request for request in requests if not request.startswith((own, "blob:", "data:"))]
    assert (dialogs, foreign) == ([], [])


async def grace(people: People) -> Person:
    return await people.arrive("Grace", reads="general")


async def group_of(maker: Person, *others: Person) -> str:
    """Create a group of these people's devices. Return the group's id."""
    ids = [await own_id(person) for person in others]
    make = """async ([groups, ids]) => (await import(groups)).createGroup(ids, "")"""
    group = str(await maker.page.evaluate(make, [await loaded(maker, "groups"), ids]))
    # The first message creates the group.
    await send_messages(maker, group, [{"text": "Hello"}])

    async def all_are_in() -> bool:
        response = await ask(maker, "GET", f"/api/private/conversations/{group}")
        return len(response["devices"]) == len(ids) + 1

    await wait_until("everybody has a device in the group", all_are_in, within_s=15)
    return group


async def loaded(person: Person, name: str) -> str:
    return str(await (await person.page.wait_for_function(LOADED, arg=name)).json_value())


async def send_messages(person: Person, group: str, all_of_it: list[Mapping[str, object]]) -> None:
    await person.page.evaluate(SAY, [await loaded(person, "own_identity"), group, all_of_it])


async def leave_open() -> None:
    """Do nothing, because the current view is the view to check."""


async def too_wide(person: Person, shown: Mapping[str, Callable[[], Awaitable[object]]]) -> list[str]:
    overflows: list[str] = []
    for size, viewport in SIZES.items():
        await person.resize(viewport)
        for where, show in shown.items():
            await show()
            await until_still(person.page)
            await save_view(person.page, f"hostile-{size}-{where.replace(' ', '-')}")
            overflows += [f"{size}, {where}: {overflow}" for overflow in await person.page.evaluate(TOO_WIDE)]
            if show is not leave_open:
                await person.page.keyboard.press("Escape")
    return overflows


def views(person: Person) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return a function for each view under test, which opens the view from the conversation. Escape closes
    it."""
    page = person.page
    box, dialog = page.locator("#private-box"), page.get_by_role("dialog")

    async def shows(act: Awaitable[object], what: Locator = dialog) -> None:
        await act
        await expect(what.first).to_be_visible()

    async def searched() -> None:
        await person.press("Search private messages")
        await dialog.get_by_label("Search terms").fill("onerror")
        await expect(dialog.get_by_role("listitem").first).to_be_visible()
        # Move the focus, because Escape in the search field would only clear the text.
        await dialog.get_by_role("button", name="Close").focus()

    return {
        "the newest": lambda: box.evaluate("(box) => { box.scrollTop = 1e6; }"),
        "the middle": lambda: box.evaluate("(box) => { box.scrollTop = box.scrollHeight / 2; }"),
        "the oldest": lambda: box.evaluate("(box) => { box.scrollTop = 0; }"),
        "the number": lambda: shows(person.press("About encryption")),
        "the people": lambda: shows(person.press("People and name")),
        "a search": searched,
        "a profile": lambda: shows(
            page.locator("#private .message:not(.follows) button.author").last.click()
        ),
        "the switcher": lambda: shows(page.keyboard.press("Control+k")),
        "the conversations": person.show_channels,
    }


async def report(person: Person) -> None:
    """Report a message with hostile text and names to the moderators."""
    await person.resize(SIZES["wide"])
    notice = person.page.locator("#private .message").filter(has_text=HOSTILE["file_names"][0]).first
    await press_at(notice, "More")
    await person.page.get_by_role("menuitem", name="Report to moderators").click()
    dialog = person.page.get_by_role("dialog")
    await dialog.get_by_label("What’s wrong?").fill(HOSTILE["markdown"][0] + LONG)
    await dialog.get_by_role("button", name="Send report").click()
    await expect(dialog).to_have_count(0)
    reports = await open_settings(person, "Reports")
    await expect(reports.locator("blockquote")).to_contain_text(HOSTILE["file_names"][0])
