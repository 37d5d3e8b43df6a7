"""Text in Firefox: somebody comes in, writes, reacts, sends a file and searches, and Chromium shows it."""

from playwright.async_api import ViewportSize, expect

from tests.kit.firefox import Firefox
from tests.kit.people import People, both_widths
from tests.kit.product import Product
from tests.kit.text_channels import come_to_read, message, shows, write


@both_widths
async def test_text_is_written_read_and_found_in_firefox(
    people: People, fox: Firefox, product: Product, viewport: ViewportSize
) -> None:
    ada = await people.arrive("Ada")
    await come_to_read(ada)
    grace = await fox.arrive("Grace", product.url, size=viewport)
    assert await grace.does("return innerWidth;") == viewport["width"]
    await grace.does("""
      const name = await one("input[name=name]");
      fill(name, "Grace");
      name.form.requestSubmit();
      const field = await one("#draft:enabled");
      fill(field, "Hello from **Firefox**");
      enter(field);
      await message("Hello from Firefox");""")
    await shows(ada, ["Hello from Firefox"])
    await write(ada, "Hello [Firefox](https://a.example)")
    await grace.does("""
      (await message("Hello Firefox")).dataset.here = "";
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
    # A message is found a moment after it was posted.
    found = await grace.does("""
      await press("Search");
      const field = await one("input[type=search]");
      fill(field, "hello");
      return (await there(() => {
        field.form.requestSubmit();
        const lines = document.querySelectorAll(".message-line");
        return lines.length === 2 && lines[0].parentElement;
      })).textContent;""")
    assert "Hello from Firefox" in found
