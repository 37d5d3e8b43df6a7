"""Interrupted uploads resume where they stopped, automatically or on request."""

import re

from playwright.async_api import Locator, Route, expect

from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.text_channels import join_and_open, message, write

PIECE_BYTES = 8 * 2**20
SIZE_BYTES = PIECE_BYTES + 4096
DROP = """(target, size) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(size)], "large.bin"));
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""


class UploadConnection:
    """A person's upload connection, which lets only the first chunk through until it is repaired."""

    def __init__(self) -> None:
        self.cuts = 0
        # The method and the chunk offset of each request after the repair.
        self.resumed_requests: list[tuple[str, str | None]] = []
        self._pieces = 0
        self._restored = False

    async def intercept(self, person: Person) -> None:
        await person.page.route(re.compile("/api/uploads"), self._pass)
        # Requests that bypass the service worker may also bypass routes that were added while the page was
        # open.
        await person.page.reload()

    def restore(self) -> None:
        self._restored = True

    async def _pass(self, route: Route) -> None:
        offset = route.request.headers.get("upload-offset")
        if self._restored:
            self.resumed_requests.append((route.request.method, offset))
        else:
            self._pieces += offset is not None
            # Block further chunks and progress requests.
            if self._pieces > 1:
                self.cuts += 1
                await route.abort("connectionreset")
                return
        await route.continue_()

    def resumed_at_the_cut(self) -> bool:
        pieces = [offset for method, offset in self.resumed_requests if method == "PATCH"]
        return pieces == [str(PIECE_BYTES)] and "POST" not in [method for method, _ in self.resumed_requests]


async def upload_that_is_cut(ada: Person, line: UploadConnection) -> Locator:
    """Start an upload and wait until its connection is cut. Return its entry in the list."""
    await line.intercept(ada)
    await join_and_open(ada)
    upload = ada.page.locator(".upload-list li")
    await ada.page.locator("#text").evaluate(DROP, SIZE_BYTES)
    await expect(upload.get_by_role("status")).to_have_text(
        "Connection lost. The upload will continue automatically."
    )
    assert line.cuts >= 1
    return upload


@narrow_only
async def test_an_interrupted_upload_resumes_where_it_stopped(people: People) -> None:
    ada, line = await people.arrive("Ada"), UploadConnection()
    upload = await upload_that_is_cut(ada, line)
    line.restore()
    await expect(upload).to_have_attribute("data-state", "done")
    assert line.resumed_at_the_cut(), line.resumed_requests
    await write(ada, "Whole")
    await expect(message(ada, "Whole").get_by_role("link", name="large.bin")).to_be_visible()


@wide_only
async def test_an_upload_resumes_after_a_reload(people: People) -> None:
    ada, line = await people.arrive("Ada"), UploadConnection()
    upload = await upload_that_is_cut(ada, line)
    await ada.page.reload()
    line.restore()
    await expect(upload).to_have_attribute("data-state", "done")
    assert line.resumed_at_the_cut(), line.resumed_requests
    await write(ada, "Whole")
    await expect(message(ada, "Whole").get_by_role("link", name="large.bin")).to_be_visible()
    await ada.page.reload()
    await expect(message(ada, "Whole")).to_be_visible()
    await expect(upload).to_have_count(0)
