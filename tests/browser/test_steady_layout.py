"""The page's layout keeps still and keeps clear: a message stays where it is when the server has it, and no
control is under a phone's notch or home indicator.
"""

from playwright.async_api import expect

from tests.kit.people import People, both_widths
from tests.kit.text_channels import LiveConnection, both, box, do, message, write

# Returns the positions of the messages and of what the last one contains.
POSITIONS = """() => {
  const messages = [...document.querySelectorAll(".message")];
  const parts = ".avatar, .author, .byline time, .replied, .text";
  return [...messages, ...messages.at(-1).querySelectorAll(parts)]
    .map((each) => [each.className.split(" ")[0], each.getBoundingClientRect()])
    .map(([name, { x, y, height }]) => [name, Math.round(x), Math.round(y), Math.round(height)]);
}"""


@both_widths
async def test_a_message_stays_in_place_when_the_server_has_it(people: People) -> None:
    ada, grace = await both(people)
    line = LiveConnection()
    await line.put_before(ada)
    await ada.page.reload()
    await expect(box(ada)).to_be_enabled()

    async def keeps_its_place(text: str) -> None:
        line.hold("message_send")
        await box(ada).fill(text)
        await box(ada).press("Control+Enter")
        await expect(ada.page.locator(".pending")).to_have_count(1)
        before = await ada.page.evaluate(POSITIONS)
        line.let_go()
        await expect(ada.page.locator(".pending")).to_have_count(0)
        await expect(ada.page.locator(".message.own .text").last).to_contain_text(text.split("\n")[0])
        assert await ada.page.evaluate(POSITIONS) == before, text

    await keeps_its_place("The first message in the channel")
    await keeps_its_place("One that follows it\nwith a second line")
    await write(grace, "Who comes?")
    await expect(message(ada, "Who comes?")).to_be_visible()
    await keeps_its_place("One after somebody else's")
    await do(ada, "Who comes?", "Reply")
    await keeps_its_place("A reply")
