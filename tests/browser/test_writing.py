"""What helps while one writes: completion, emoji, signs around words, files, and pictures seen large."""

import re
from collections.abc import Mapping

from playwright.async_api import Locator, expect

from tests.kit.people import People, Person
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import box, come_to_read, message, shows, write
from tests.kit.waiting import wait_until

DROP = """(target, files) => {
  const dataTransfer = new DataTransfer();
  for (const { name, type, bytes } of files) {
    dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
  }
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
DRAFTS = """async () => {
  const token = JSON.parse(localStorage.getItem("svc.identity")).access_token;
  const answer = await fetch("/api/drafts", { headers: { Authorization: `Bearer ${token}` } });
  return (await answer.json()).drafts;
}"""


async def both(people: People) -> tuple[Person, Person]:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await come_to_read(ada)
    await come_to_read(grace)
    return ada, grace


def picture(name: str, width: int = 320) -> dict[str, object]:
    return {"name": name, "type": "image/png", "bytes": list(encoded(scene(width, 240), "PNG"))}


async def drop(person: Person, *files: Mapping[str, object]) -> None:
    await person.page.locator("#text").evaluate(DROP, list(files))


def uploads(person: Person, state: str) -> Locator:
    return person.page.locator(f".upload-list [data-state={state}]")


async def test_a_few_letters_of_a_name_are_enough_to_mention_somebody(people: People) -> None:
    ada, grace = await both(people)
    await box(ada).press_sequentially("Hello @gr")
    await expect(ada.page.get_by_role("option", name="Grace")).to_have_attribute("aria-selected", "true")
    await box(ada).press("Enter")
    await box(ada).press_sequentially("and :tad")
    await expect(ada.page.get_by_role("option", name=":tada:")).to_be_visible()
    await box(ada).press("Tab")
    await box(ada).press_sequentially("in #gen")
    await box(ada).press("Enter")
    await box(ada).press("Enter")
    await shows(grace, ["Hello @Grace and 🎉 in #general"])
    await expect(message(grace, "Hello").locator(".mention.own")).to_have_text("@Grace")
    # Escape leaves what was typed as it stands.
    await box(ada).press_sequentially("@gr")
    await box(ada).press("Escape")
    await box(ada).press("Enter")
    await shows(grace, ["Hello @Grace and 🎉 in #general", "@gr"])


async def test_signs_are_put_around_what_is_selected_and_taken_away_again(people: People) -> None:
    ada, _ = await both(people)
    await box(ada).fill("so bold")
    await box(ada).press("Control+Shift+ArrowLeft")
    await box(ada).press("Control+b")
    await expect(box(ada)).to_have_value("so **bold**")
    await box(ada).press("Control+i")
    await expect(box(ada)).to_have_value("so ***bold***")
    await box(ada).press("Control+i")
    await box(ada).press("Control+b")
    await expect(box(ada)).to_have_value("so bold")


async def test_an_emoji_is_picked_into_the_text_and_as_a_reaction(people: People) -> None:
    ada, grace = await both(people)
    await box(ada).fill("Yes")
    await ada.press("Choose an emoji")
    await ada.page.get_by_role("searchbox", name="Search emoji").fill("rocket")
    await ada.page.get_by_role("gridcell").get_by_role("button").first.click()
    await expect(box(ada)).to_have_value("Yes🚀 ")
    await expect(box(ada)).to_be_focused()
    await box(ada).press("Enter")
    await message(grace, "Yes").hover()
    await message(grace, "Yes").get_by_role("button", name="React").click()
    await grace.press("All emoji")
    await grace.page.get_by_role("searchbox", name="Search emoji").fill("unicorn")
    await expect(grace.page.get_by_role("gridcell").first).to_contain_text("🦄")
    await grace.page.keyboard.press("Enter")
    await expect(message(ada, "Yes").locator(".reaction")).to_have_accessible_name("🦄 1 person")


async def test_files_that_are_dropped_are_described_sent_and_seen_large(people: People) -> None:
    ada, grace = await both(people)
    document: dict[str, object] = {
        "name": "plan.pdf",
        "type": "application/pdf",
        "bytes": list(b"%PDF-1.4 plan"),
    }
    await drop(ada, picture("one.png"), picture("two.png", 400), document)
    await expect(uploads(ada, "done")).to_have_count(3)
    await expect(uploads(ada, "done").locator("img")).to_have_count(2)
    await ada.press("Describe one.png")
    await ada.page.get_by_role("dialog").get_by_label("Description").fill("A flag")
    await ada.press("Save")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await write(ada, "Look")

    shown = message(grace, "Look")
    await expect(shown.locator(".gallery img")).to_have_count(2)
    await expect(shown.get_by_role("img", name="A flag")).to_be_visible()
    await expect(shown.get_by_role("link", name="plan.pdf")).to_have_attribute("download", "plan.pdf")
    await shown.get_by_role("link", name="A flag").click()
    lightbox = grace.page.get_by_role("dialog")
    await expect(lightbox).to_have_accessible_name("A flag")
    await expect(lightbox).to_contain_text("1 of 2")
    await grace.page.keyboard.press("ArrowRight")
    await expect(lightbox).to_contain_text("2 of 2")
    await expect(lightbox.locator("img")).to_have_attribute("src", re.compile("^/media/"))
    await grace.page.keyboard.press("Escape")
    await expect(lightbox).to_have_count(0)


async def test_what_is_being_written_is_there_after_a_reload_with_its_files(people: People) -> None:
    ada, _ = await both(people)
    await drop(ada, picture("one.png"))
    await expect(uploads(ada, "done")).to_have_count(1)
    await box(ada).fill("to be continued")

    async def kept() -> bool:
        drafts = await ada.page.evaluate(DRAFTS)
        return [(draft["text"], len(draft["attachments"])) for draft in drafts] == [("to be continued", 1)]

    await wait_until("the server keeps the draft", kept, within_s=10)
    await ada.page.reload()
    await expect(box(ada)).to_have_value("to be continued")
    await expect(uploads(ada, "done")).to_have_count(1)


async def test_a_reply_names_what_it_answers_and_leads_there(people: People) -> None:
    ada, grace = await both(people)
    await write(ada, "Dinner at eight?")
    await message(grace, "Dinner").hover()
    await message(grace, "Dinner").get_by_role("button", name="Reply").click()
    await expect(box(grace)).to_be_focused()
    await expect(grace.page.locator(".reply-line")).to_contain_text("Reply to Ada")
    await box(grace).press_sequentially("Nine is better")
    await box(grace).press("Enter")
    answer = message(ada, "Nine is better")
    await expect(answer.locator(".replied")).to_contain_text("Dinner at eight?")
    await expect(answer).to_have_class(re.compile("mentions-me"))
    await answer.locator(".replied").click()
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text("Dinner at eight?")
    # To a day: the first that was said since it began.
    await ada.page.locator(".day button").click()
    dialog = ada.page.get_by_role("dialog", name="Jump to a date")
    await dialog.get_by_role("button", name="Jump").click()
    await expect(dialog).to_have_count(0)
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text("Dinner at eight?")
    await expect(ada.page.locator(".message.marked")).to_be_focused()
