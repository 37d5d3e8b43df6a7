"""A file whose connection is cut goes on where it stopped, by itself and when one asks."""

from playwright.async_api import Route, expect

from tests.kit.people import DEADLINE_MS, People
from tests.kit.text_channels import come_to_read, message, write

PIECE_BYTES = 8 * 2**20
SIZE_BYTES = PIECE_BYTES + 4096
DROP = """(target, size) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(size)], "large.bin"));
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""


async def test_a_file_that_is_cut_off_goes_on_where_it_stopped(people: People) -> None:
    ada = await people.arrive("Ada")
    await come_to_read(ada)
    upload = ada.page.locator(".upload-list li")
    offsets: list[int] = []
    cuts = 0

    async def cut(route: Route) -> None:
        nonlocal cuts
        if "upload-offset" in route.request.headers:
            offsets.append(int(route.request.headers["upload-offset"]))
        # The first piece comes; then nothing does, neither a piece nor a word about how far it is.
        if len(offsets) > 1:
            cuts += 1
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await ada.page.route("**/api/uploads/*", cut)
    await ada.page.locator("#text").evaluate(DROP, SIZE_BYTES)
    await expect(upload.get_by_role("status")).to_have_text(
        "The connection was lost. The upload continues by itself.", timeout=DEADLINE_MS
    )
    before = cuts
    await ada.page.unroute("**/api/uploads/*")
    sent: list[tuple[str, str | None]] = []
    ada.page.on(
        "request", lambda request: sent.append((request.method, request.headers.get("upload-offset")))
    )
    await expect(upload).to_have_attribute("data-state", "done", timeout=DEADLINE_MS)
    assert before >= 1
    assert [offset for method, offset in sent if method == "PATCH"] == [str(PIECE_BYTES)]
    assert "POST" not in [method for method, _ in sent]
    await write(ada, "Whole")
    await expect(message(ada, "Whole").get_by_role("link", name="large.bin")).to_be_visible()


async def test_a_file_on_its_way_goes_on_after_a_reload(people: People) -> None:
    ada = await people.arrive("Ada")
    await come_to_read(ada)
    upload = ada.page.locator(".upload-list li")
    offsets: list[int] = []

    async def cut(route: Route) -> None:
        if "upload-offset" in route.request.headers:
            offsets.append(int(route.request.headers["upload-offset"]))
        if len(offsets) > 1:
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await ada.page.route("**/api/uploads/*", cut)
    await ada.page.locator("#text").evaluate(DROP, SIZE_BYTES)
    await expect(upload.get_by_role("status")).to_have_text(
        "The connection was lost. The upload continues by itself.", timeout=DEADLINE_MS
    )
    await ada.page.unroute("**/api/uploads/*")
    sent: list[tuple[str, str | None]] = []
    ada.page.on(
        "request", lambda request: sent.append((request.method, request.headers.get("upload-offset")))
    )
    await ada.page.reload()
    await expect(upload).to_have_attribute("data-state", "done", timeout=DEADLINE_MS)
    assert [offset for method, offset in sent if method == "PATCH"] == [str(PIECE_BYTES)]
    await write(ada, "Whole")
    await expect(message(ada, "Whole").get_by_role("link", name="large.bin")).to_be_visible()
    await ada.page.reload()
    await expect(message(ada, "Whole")).to_be_visible(timeout=DEADLINE_MS)
    await expect(upload).to_have_count(0)
