"""A returning member is recognised by the browser's key, which cannot be copied out of the browser."""

from playwright.async_api import expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import INSECURE_HOST, People, Person, narrow_only, wide_only
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

__all__ = ["axe"]

STORED_IDENTITY = "() => JSON.parse(localStorage.getItem('svc.identity'))"
# Returns whether the page can export the private key.
EXPORTED = """async () => {
  const opening = indexedDB.open("svc", 1);
  await new Promise((resolve) => opening.addEventListener("success", resolve));
  const reading = opening.result.transaction("keys").objectStore("keys").get("device");
  await new Promise((resolve) => reading.addEventListener("success", resolve));
  opening.result.close();
  return crypto.subtle.exportKey("jwk", reading.result.privateKey).then(() => "read", () => "kept");
}"""


SPOIL_TOKENS = """() => {
  const kept = JSON.parse(localStorage.getItem("svc.identity"));
  const spoilt = { ...kept, access_token: "x", refresh_token: "x", fresh_until: 0 };
  localStorage.setItem("svc.identity", JSON.stringify(spoilt));
}"""


async def own_id(person: Person) -> str:
    return str((await person.page.evaluate(STORED_IDENTITY))["member"]["id"])


@narrow_only
async def test_a_returning_member_needs_no_invite(people: People, product: SvcUp) -> None:
    """Check that the browser's key is enough to sign in after the tokens have expired."""
    ada = await people.arrive("Ada")
    await ada.come_in()
    before = await own_id(ada)
    for return_ in ("with tokens", "with the key"):
        await ada.page.goto("about:blank")
        await ada.page.goto(product.url.partition("#")[0])
        await expect(ada.page.locator("#own-name")).to_have_text("Ada")
        assert await own_id(ada) == before, return_
        await ada.page.evaluate(SPOIL_TOKENS)
    await ada.enter_call()
    assert await ada.page.evaluate(EXPORTED) == "kept"


@wide_only
async def test_an_open_page_renews_its_tokens(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.join(camera=False)
    first = await ada.page.evaluate(STORED_IDENTITY)
    await ada.page.evaluate(
        """() => {
          const kept = JSON.parse(localStorage.getItem("svc.identity"));
          localStorage.setItem("svc.identity", JSON.stringify({ ...kept, fresh_until: Date.now() + 500 }));
        }"""
    )
    await ada.page.reload()

    async def renewed() -> bool:
        kept = await ada.page.evaluate(STORED_IDENTITY)
        return bool(kept["refresh_token"] != first["refresh_token"])

    await wait_until("the page has new tokens", renewed, within_s=10)
    await ada.is_connected()
    # The live socket still responds.
    await ada.press("Leave")
    await ada.press("Join call")
    await ada.is_connected()


@narrow_only
async def test_signing_in_under_another_name_creates_a_new_member(people: People, product: SvcUp) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    before = await own_id(ada)
    await ada.show_channels()
    await ada.press("Settings")
    await ada.press("Session")
    await ada.press("Use another identity")
    question = ada.page.get_by_role("dialog", name="Give up your identity on this server?")
    await expect(question).to_contain_text("This deletes this browser’s key")
    await question.get_by_role("button", name="Use another identity").click()
    await expect(ada.page.get_by_label("Your name")).to_be_visible()
    await ada.page.goto("about:blank")
    await ada.page.goto(product.url)
    ada.name = "Eve"
    await ada.come_in()
    assert await own_id(ada) != before


@wide_only
async def test_over_plain_http_the_web_client_explains_what_is_missing(
    people: People, product: SvcUp, axe: str
) -> None:
    ada = await people.arrive("Ada", url=product.url.replace("127.0.0.1", INSECURE_HOST))
    # The page also explains why calls are unavailable and gives advice.
    await expect(ada.page.get_by_role("alert")).to_have_text(
        "Browsers allow signing in and using the microphone and camera only at https:// addresses, or on the "
        "server itself at http://127.0.0.1. Ask the server operator for the https:// address."
    )
    await expect(ada.page.get_by_role("button", name="Join", exact=True)).to_have_count(0)
    await expect_accessible(ada, axe, "an address without https")
