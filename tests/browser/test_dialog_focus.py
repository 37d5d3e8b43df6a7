"""Every dialog is accessible, fits in a window of 320 px, and returns the focus to the control that opened
it.

The test opens every dialog in `views/panel_registry.js` by name. This requires a page with source modules
instead of bundled modules.
"""

from playwright.async_api import expect

from tests.browser.test_accessibility import axe, fits, look
from tests.kit.browser_users import People, wide_only
from tests.kit.community import own_id
from tests.kit.separate_modules import use_separate_modules
from tests.kit.text_channels import message, write

# Opens the named dialog. Each dialog gets all details that any dialog might need.
SHOW = """async ([name, memberId]) => {
  const { showDialog } = await import("/web/state/navigation.js");
  const { conversationOf } = await import("/web/state/conversation.js");
  const { channels } = await import("/web/state/channels.js");
  const { conversations } = await import("/web/state/private_conversations.js");
  const { member } = await import("/web/state/server.js");
  // A private conversation in which another device requests earlier messages.
  const asks = [{ thumbprint: "", code: ["12345"] }];
  const talk = { id: "talk", members: [member.value.id, memberId], two: false, name: "Regatta", asks };
  conversations.value = [{ ...talk, unread: 0, lastMs: 0, stands: "ready", verified: "no", code: [] }];
  const conversation = conversationOf("general");
  const [message] = conversation.messages.value;
  const channelId = channels.value.find(({ type }) => type === (name === "join" ? "voice" : "text")).id;
  const details = { act: "kick", pictures: [], fileId: "", conversationKey: "general", thumbprint: "" };
  details.conversationId = name.startsWith("private-") ? "talk" : undefined;
  if (name === "link-accounts") return showDialog(name, { origin: "https://example.org" });
  showDialog(name, { ...details, memberId, channelId, conversation, message });
}"""
NAMES = """async () => Object.keys((await import("/web/views/panel_registry.js")).DIALOGS)"""


__all__ = ["axe"]


@wide_only
async def test_every_dialog_is_accessible_and_returns_the_focus(people: People, axe: str) -> None:
    faults: list[str] = []
    ada = await people.arrive("Ada", reads="general")
    grace = await people.join("Grace")
    page = ada.page
    await write(ada, "Hello")
    await use_separate_modules(page)
    await page.reload()
    await expect(message(ada, "Hello")).to_be_visible()
    names = await page.evaluate(NAMES)
    assert len(names) > 20
    opener = page.get_by_role("button", name="Settings", exact=True)
    shown = page.locator("dialog[open]")
    for name in names:
        await opener.focus()
        await page.evaluate(SHOW, [name, await own_id(grace)])
        await expect(shown, name).to_have_count(1)
        await expect(shown.locator(":focus"), name).to_be_attached()
        await look(ada, axe, name, faults)
        await fits(ada, name, faults, [(320, 568)])
        await page.keyboard.press("Escape")
        await expect(shown, name).to_have_count(0)
        await expect(opener, name).to_be_focused()
    assert not faults, "\n".join(faults)
