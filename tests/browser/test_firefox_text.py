"""A person in Firefox can sign in, post, edit, reply, react, send a file and search."""

import pytest
from playwright.async_api import ViewportSize, expect

from tests.kit.browser_users import People, narrow_only, wide_only
from tests.kit.firefox import Firefox
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import join_and_open, message, shows, write

COME_IN = """
const name = await one("input[name=name]");
fill(name, "Grace");
name.form.requestSubmit();
"""


@wide_only
async def test_messages_can_be_written_read_and_found_in_firefox(
    people: People, fox: Firefox, product: SvcUp, viewport: ViewportSize
) -> None:
    ada = await people.arrive("Ada")
    await join_and_open(ada)
    grace = await fox.arrive("Grace", product.url, size=viewport)
    assert await grace.does("return innerWidth;") == viewport["width"]
    await grace.does(f"""
      {COME_IN}
      const field = await one("#draft:enabled");
      fill(field, "Hello from **Firefox**");
      enter(field);
      await message("Hello from Firefox");""")
    await shows(ada, ["Hello from Firefox"])
    await write(ada, "Hello [Firefox](https://a.example)")
    await grace.does("""
      await pointAt("Hello Firefox");
      await press("React", "[data-here]");
      await press("🎉", "[data-here] .picker");""")
    reaction = message(ada, "Hello Firefox").locator(".reaction")
    await expect(reaction).to_have_accessible_name("🎉 1 person")
    await grace.does("""
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(100_000)], "large.bin"));
      const target = await one("#text");
      for (const kind of ["dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
      }
      await one(".upload-list [data-state=done]");
      enter(await one("#draft"));""")
    await expect(ada.page.get_by_role("link", name="large.bin")).to_be_visible()
    # On a busy machine, the message may not be in the search index immediately, so search repeatedly.
    text = await grace.does("""
      await press("Search messages");
      const field = await one("input[type=search]");
      fill(field, "hello");
      return (await there(() => {
        const lines = document.querySelectorAll(".message-line");
        if (lines.length === 2) return lines[0].parentElement;
        if (!document.body.innerText.includes("Searching…")) field.form.requestSubmit();
        return null;
      })).textContent;""")
    assert "Hello from Firefox" in text


@pytest.mark.nightly("Firefox writes, reads and finds messages daily")
@narrow_only
async def test_messages_can_be_edited_and_replied_to_and_drafts_are_kept_in_firefox(
    people: People, fox: Firefox, product: SvcUp, viewport: ViewportSize
) -> None:
    ada = await people.arrive("Ada")
    await join_and_open(ada)
    await write(ada, "Where shall we meet?")
    grace = await fox.arrive("Grace", product.url, size=viewport)
    await grace.does(f"""
      {COME_IN}
      const field = await one("#draft:enabled");
      fill(field, "At the rivr");
      enter(field);
      await message("At the rivr");
      strike("ArrowUp", field);
      const editor = await one(".editor textarea");
      fill(editor, "At the river");
      enter(await one(".editor textarea"));
      await message("At the river");
      await pointAt("Where shall");
      await press("Reply", "[data-here]");
      await one(".reply-line");
      fill(field, "By noon");
      enter(field);
      await message("By noon");""")
    await shows(ada, ["Where shall we meet?", "At the river", "By noon"])
    await expect(message(ada, "At the river").locator(".mark")).to_have_text("edited")
    await expect(message(ada, "By noon").locator(".replied")).to_have_text("Ada Where shall we meet?")
    await grace.does("""
      await press("More", "[data-here]");
      await press("Reply in a thread", "[data-here]");
      const field = await one(".thread textarea:enabled");
      fill(field, "Or behind the mill");
      enter(field);
      await message("Or behind the mill");
      fill(await one("#draft"), "Half a sentence");""")
    await expect(message(ada, "Where shall").locator(".answers")).to_contain_text("1 reply")
    await grace.reload()
    kept = await grace.does("""
      await message("At the river");
      return (await one("#draft:enabled")).value;""")
    assert kept == "Half a sentence"
