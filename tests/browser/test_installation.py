"""The installed web client can be read offline, updates without losing drafts, and is a share target."""

import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
import pytest_asyncio
from playwright.async_api import Route, ViewportSize, expect

from svc.chat import community
from svc.chat.pages.routes import WEB_FOLDER
from svc.tools.cluster_demo import free_ports
from tests.browser.test_accessibility import axe, expect_accessible
from tests.chat.chat_server import chat_server
from tests.kit.browser_users import People, Person, chromium, narrow_only, people_at, wide_only
from tests.kit.community import confirm
from tests.kit.notifications import open_settings
from tests.kit.svc_up import SvcUp, running_svc_up
from tests.kit.text_channels import box, entry, open_channel, shows, write
from tests.kit.wait import wait_until

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("service_worker")

STORED_TEXTS = """async () => {
  if (!(await indexedDB.databases()).some(({ name }) => name === "svc.read")) return "";
  const opening = indexedDB.open("svc.read");
  await new Promise((resolve) => { opening.onsuccess = resolve; });
  const all = opening.result.transaction("kept").objectStore("kept").getAll();
  await new Promise((resolve) => { all.onsuccess = resolve; });
  opening.result.close();
  return JSON.stringify(all.result);
}"""
SHELL_IS_THERE = """async () => {
  await navigator.serviceWorker.ready;
  const names = await caches.keys();
  return names.some((name) => name.startsWith("shell-")) && navigator.serviceWorker.controller !== null;
}"""
MANIFEST = "async () => (await fetch(document.querySelector('link[rel=manifest]').href)).json()"
# Shares content like the system: submits the form described in the manifest, without an origin.
SHARE = """async ([address, target, more = 0]) => {
  const form = document.createElement("form");
  const { action, method, enctype } = target;
  Object.assign(form, { action: new URL(action, address), method, enctype });
  const said = { title: "A picture", url: "https://example.org/a" };
  for (const [name, value] of Object.entries(said)) {
    form.append(Object.assign(document.createElement("input"), { name: target.params[name], value }));
  }
  const canvas = new OffscreenCanvas(60, 40);
  canvas.getContext("2d").fillRect(0, 0, 60, 40);
  const brought = new DataTransfer();
  brought.items.add(new File(["one"], "note one.txt", { type: "text/plain" }));
  brought.items.add(new File([await canvas.convertToBlob()], "seen.png", { type: "image/png" }));
  for (let number = 0; number < more; number++) brought.items.add(new File(["x"], `more ${number}.txt`));
  if (target.bytes) brought.items.add(new File([new Uint8Array(target.bytes)], "large"));
  const files = { type: "file", multiple: true, name: target.params.files[0].name, files: brought.files };
  form.append(Object.assign(document.createElement("input"), files));
  document.body.append(form);
  form.submit();
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SvcUp]:
    """Run a server with a second text channel and a port that stays the same after a restart."""
    monkeypatch.setenv("ADDITIONAL_CHANNELS", "random")
    async with running_svc_up(tmp_path / "data", "--port", str(free_ports(1)[0])) as product:
        yield product
    assert "Traceback" not in product.output, product.output


async def keeps(person: Person, text: str) -> None:
    """Wait until the browser has stored the web client and the given text for offline use."""

    async def shell_is_cached() -> bool:
        return bool(await person.page.evaluate(SHELL_IS_THERE))

    async def text_is_cached() -> bool:
        return text in await person.page.evaluate(STORED_TEXTS)

    await wait_until("the page is cached", shell_is_cached, within_s=20)
    await wait_until(f"{text!r} is cached", text_is_cached, within_s=20)


@narrow_only
async def test_the_last_read_channel_is_available_without_the_server(
    people: People, product: SvcUp, tmp_path: Path
) -> None:
    ada = await people.arrive("Ada", reads="random")
    await write(ada, "in random")
    await keeps(ada, "in random")
    await open_channel(ada, "general")
    await write(ada, "one")
    await write(ada, "two")
    await keeps(ada, "two")
    await box(ada).fill("half a sentence")
    await product.stop()
    await ada.page.reload()
    await expect(ada.page.get_by_text("You’re offline. Showing messages from Today")).to_be_visible()
    await shows(ada, ["one", "two"])
    await expect(box(ada)).to_have_value("half a sentence")
    await expect(box(ada)).not_to_be_editable()
    await ada.show_channels()
    await entry(ada, "random").click()
    await shows(ada, ["in random"])

    port = product.url.split(":")[2].split("/")[0]
    async with running_svc_up(tmp_path / "data", "--port", port):
        await expect(ada.page.get_by_text("Offline.")).to_have_count(0)
        await open_channel(ada, "general")
        await expect(box(ada)).to_be_editable()
        await expect(box(ada)).to_have_value("half a sentence")
        await box(ada).press("Enter")
        await shows(ada, ["one", "two", "half a sentence"])


@wide_only
async def test_signing_out_erases_all_messages_stored_for_offline_reading(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "between us")
    await keeps(ada, "between us")
    await box(ada).fill("half a sentence")
    await open_settings(ada, "Session")
    await ada.press("Sign out")
    await confirm(ada, "Sign out")
    await expect(ada.page.get_by_role("button", name="Sign in as Ada")).to_be_visible()

    async def gone() -> bool:
        left = await ada.page.evaluate(STORED_TEXTS) + json.dumps(
            await ada.page.evaluate("({ ...localStorage })")
        )
        return "between us" not in left and "half a sentence" not in left

    await wait_until("no private data remains", gone, within_s=20)


async def test_shared_content_is_shown_only_after_the_sharing_site_has_been_named(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await wait_until("the service worker is active", lambda: ada.page.evaluate(SHELL_IS_THERE), within_s=20)
    address, manifest = ada.page.url, await ada.page.evaluate(MANIFEST)
    await ada.page.route(
        "http://foreign.example/", lambda route: route.fulfill(body="<body>", content_type="text/html")
    )
    await ada.page.goto("http://foreign.example/")
    await ada.page.evaluate(SHARE, [address, manifest["share_target"], 20])
    dialog = ada.page.get_by_role("dialog", name="Share to a channel")
    await expect(dialog).to_contain_text("foreign.example wants to share something here.")
    await expect(dialog.get_by_role("blockquote")).to_have_count(0)
    await dialog.get_by_role("button", name="Show", exact=True).click()
    # The list contains only as many files as a message can have.
    await expect(dialog.get_by_role("list", name="Files").get_by_role("listitem")).to_have_count(10)
    await dialog.get_by_role("button", name="Close").click()
    await ada.page.reload()
    await expect(box(ada)).to_have_value("")
    await expect(dialog).to_have_count(0)


@narrow_only
async def test_shared_content_is_posted_in_the_chosen_channel(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    await box(ada).fill("Look:")
    await wait_until("the service worker is active", lambda: ada.page.evaluate(SHELL_IS_THERE), within_s=20)
    address, manifest = ada.page.url, await ada.page.evaluate(MANIFEST)
    await ada.page.goto("about:blank")
    await ada.page.evaluate(SHARE, [address, manifest["share_target"]])
    dialog = ada.page.get_by_role("dialog", name="Share to a channel")
    await expect(dialog).to_contain_text("Another app or site wants to share something here.")
    await expect(dialog.get_by_text("note one.txt")).to_have_count(0)
    await dialog.get_by_role("button", name="Show", exact=True).click()
    await expect(dialog.get_by_role("blockquote")).to_have_text(
        re.compile(r"^A picture\s*https://example.org/a$")
    )
    await expect(dialog.get_by_text("note one.txt")).to_be_visible()
    await expect_accessible(ada, axe, "shared content")
    await dialog.get_by_role("button", name="random").click()
    await expect(ada.page.locator("#text-name")).to_have_text("random")
    await expect(box(ada)).to_have_value("A picture\nhttps://example.org/a")
    await expect(ada.page.get_by_role("list", name="Files")).to_contain_text("note one.txt")
    await open_channel(ada, "general")
    await expect(box(ada)).to_have_value("Look:")
    assert await ada.page.evaluate("() => caches.has('shared')") is False
    await open_channel(ada, "random")
    await expect(ada.page.locator(".upload-list [data-state=done]")).to_have_count(2)
    await box(ada).press("Enter")
    await expect(ada.page.locator(".message").get_by_role("link", name="seen.webp")).to_be_visible()
    await expect(ada.page.locator(".message").get_by_role("link", name="note one.txt")).to_be_visible()


async def test_an_invalid_or_oversized_share_only_opens_the_page(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await wait_until("the service worker is active", lambda: ada.page.evaluate(SHELL_IS_THERE), within_s=20)
    address, target = ada.page.url, (await ada.page.evaluate(MANIFEST))["share_target"]
    for wrong in ({"enctype": "text/plain"}, {"bytes": 257 * 1024 * 1024}):
        await ada.page.goto("about:blank")
        await ada.page.evaluate(SHARE, [address, target | wrong])
        await expect(box(ada)).to_be_visible()
        await expect(ada.page.get_by_role("dialog")).to_have_count(0)
        assert await ada.page.evaluate("() => caches.has('shared')") is False


@narrow_only
async def test_a_new_version_is_offered_and_loaded_without_losing_a_draft(
    tmp_path: Path, viewport: ViewportSize, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Playwright intercepts the requests of service workers only with this setting.
    monkeypatch.setenv("PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS", "1")
    web = tmp_path / "web"
    shutil.copytree(WEB_FOLDER, web)
    variables = {
        "PORT": str(free_ports(1)[0]),
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "SVC_LINK_PREVIEWS": "false",
        "ADDITIONAL_CHANNELS": "general",
    }
    address, invite = f"http://127.0.0.1:{variables['PORT']}", tmp_path / "data" / "invite-code"
    with patch.object(community, "WEB_FOLDER", web):
        async with people_at("", chromium() or "", viewport=viewport) as people:
            async with chat_server(variables):
                people._url = f"{address}/#invite={invite.read_text().strip()}"
                ada = await people.arrive("Ada", reads="general")
                await write(ada, "one")
                await keeps(ada, "one")
                await box(ada).fill("half a sentence")
                before = await version(ada)
            (web / "main.js").write_text((web / "main.js").read_text() + "\nvoid 0;\n")
            failed = await fail_the_first_installation(ada)
            async with chat_server(variables):
                await expect(ada.page.get_by_text("A new version is available.")).to_be_visible()
                assert failed
                await ada.press("Reload")

                async def is_new() -> bool:
                    return await version(ada) != before

                await wait_until("the new version is active", is_new, within_s=20)
                await expect(box(ada)).to_have_value("half a sentence")
                await expect(ada.page.get_by_text("A new version is available.")).to_have_count(0)
                assert people.faults == []


async def fail_the_first_installation(person: Person) -> list[str]:
    """Abort one of the service worker's requests during its installation. Return the list of aborted URLs."""
    aborted: list[str] = []

    async def abort_one(route: Route) -> None:
        if route.request.service_worker and not aborted:
            aborted.append(route.request.url)
            await route.abort()
        else:
            await route.continue_()

    await person.page.context.route("**/later.css", abort_one)
    return aborted


async def version(person: Person) -> str | None:
    """Return the version of the page's files."""
    return await person.page.locator("head > script").get_attribute("src")
