"""People can link their accounts on two servers if they consent on both, and others can verify the link."""

from urllib.parse import urlsplit

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.browser.test_other_servers import Elsewhere, add, elsewhere
from tests.kit.account_statements import Account, digest_of, statement
from tests.kit.browser_users import People, Person, wide_daily, wide_only
from tests.kit.community import ask, open_settings, own_id
from tests.kit.device import Device
from tests.kit.svc_up import SvcUp

__all__ = ["axe", "elsewhere"]

GARDENER = "Ada of the garden"


async def joins_there(person: Person, elsewhere: Elsewhere, name: str) -> str:
    """Join the other server in the same browser. Return the link that adds this server to the first server's
    rail.
    """
    invite = (await elsewhere.owner.done("POST", "/api/invites", {}))["code"]
    address = person.page.url
    await person.page.goto(f"{elsewhere.recorder.url}/#invite={invite}")
    await person.page.get_by_label("Your name").fill(name)
    await person.press("Join")
    await expect(person.page.locator("#channels")).to_be_attached()
    token = (await ask(person, "POST", "/api/me/counts-token"))["token"]
    await add(person, urlsplit(address)._replace(fragment="", query="").geturl())
    await expect(person.page.locator(".other-servers li")).to_have_count(1)
    await person.page.goto(address)
    await expect(person.page.locator("#channels")).to_be_attached()
    return f"{elsewhere.recorder.url}/#rail={token}"


async def starts_linking(person: Person) -> Locator:
    """Start linking the account on the other server. Return the first server's dialog."""
    settings = await open_settings(person, "Servers")
    await settings.get_by_role("button", name="Link an account").click()
    await person.page.get_by_role("menuitem", name="Garden club").click()
    dialog = person.page.get_by_role("dialog", name="Link your accounts")
    await expect(dialog).to_be_visible()
    return dialog


async def profile_of(person: Person, name: str) -> Locator:
    """Open the profile of the only person who has posted a message."""
    await person.hide_channels()
    await person.page.locator(".author").first.click()
    profile = person.page.get_by_role("dialog", name=name)
    await expect(profile).to_be_visible()
    return profile


async def link_accounts(ada: Person, elsewhere: Elsewhere, product: SvcUp, axe: str) -> Locator:
    """Link the accounts and show the link on the first server. Return the last dialog."""
    other_url, host = elsewhere.recorder.url, urlsplit(product.url).netloc
    dialog = await starts_linking(ada)
    await expect_accessible(ada, axe, "the first question about a linked account")
    await dialog.get_by_role("button", name="Continue").click()
    await ada.page.wait_for_url(f"{other_url}/**")
    question = ada.page.get_by_role("dialog", name=f"Is the account on {host} yours?")
    await expect(question).to_be_visible()
    assert "same=" not in ada.page.url
    await expect_accessible(ada, axe, "the other server's question")
    await question.get_by_role("button", name="Yes, both are mine").click()
    await ada.page.wait_for_url(f"{product.url.partition('#')[0]}**")
    shown = ada.page.get_by_role("dialog", name="Show the account on your profile?")
    assert await links_of(ada) == []
    await shown.get_by_role("button", name="Show on my profile").click()
    done = ada.page.get_by_role("dialog", name="Your accounts are linked")
    await expect(done).to_be_visible()
    return done


async def links_of(person: Person) -> list[dict[str, str]]:
    path = f"/api/members/{await own_id(person)}/linked-accounts"
    links: list[dict[str, str]] = (await ask(person, "GET", path))["links"]
    return links


async def viewer(people: People, ada: Person) -> Person:
    """Have Ada post a message. Open a page as another member, who can open her profile from the message."""
    await ask(ada, "POST", "/api/channels/general/messages", {"text": "hello"})
    grace = await people.arrive("Grace")
    await grace.come_in()
    return grace


@wide_daily
async def test_a_linked_account_is_verified_by_a_member_of_both_servers_until_it_is_withdrawn(
    people: People, product: SvcUp, elsewhere: Elsewhere, axe: str
) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    other_url, own_host = elsewhere.recorder.url, urlsplit(product.url).netloc
    host = urlsplit(other_url).netloc
    await add(ada, await joins_there(ada, elsewhere, GARDENER))
    await ada.page.keyboard.press("Escape")
    await link_accounts(ada, elsewhere, product, axe)
    # The other server has only a digest, and neither the statement nor the URL of the server that shows it.
    [link] = await links_of(ada)
    assert link["origin"] == other_url
    received = elsewhere.recorder.received
    assert link["other"].encode() not in received and own_host.encode() not in received
    assert f"/api/me/account-confirmations/{digest_of(link['other'])}".encode() in received

    grace = await viewer(people, ada)
    profile = await profile_of(grace, "Ada")
    await expect(profile.get_by_text("Only members of both servers can verify this")).to_be_visible()
    await grace.page.keyboard.press("Escape")
    await add(grace, elsewhere.rail_link)
    await grace.page.keyboard.press("Escape")
    profile = await profile_of(grace, "Ada")
    check = profile.get_by_role("button", name=f"Verify with {host}")
    await expect(check).to_be_visible()
    # The page sends no request before the click, because it reveals to the other server who is looking at
    # whom.
    assert elsewhere.recorder.requests("/api/account-confirmations") == []
    await check.click()
    await expect(profile.get_by_text(f"Verified: the same person as {GARDENER}")).to_be_visible()
    [head] = elsewhere.recorder.requests("/api/account-confirmations")
    assert "\r\norigin: null" in head and "referer" not in head
    await expect_accessible(grace, axe, "a profile with a verified account")

    await ada.page.goto(other_url)
    settings = await open_settings(ada, "Servers")
    await settings.get_by_role("button", name=f"Withdraw confirmation for {own_host}").click()
    await expect(settings.get_by_text("Your confirmations")).to_have_count(0)
    await grace.page.keyboard.press("Escape")
    profile = await profile_of(grace, "Ada")
    await profile.get_by_role("button", name=f"Verify with {host}").click()
    await expect(profile.get_by_text("Not confirmed, or no longer")).to_be_visible()


@wide_only
async def test_both_profiles_can_show_the_link_and_either_can_remove_it(
    people: People, product: SvcUp, elsewhere: Elsewhere, axe: str
) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    other_url, own_host = elsewhere.recorder.url, urlsplit(product.url).netloc
    await add(ada, await joins_there(ada, elsewhere, GARDENER))
    await ada.page.keyboard.press("Escape")
    done = await link_accounts(ada, elsewhere, product, axe)
    await done.get_by_role("button", name="Continue").click()
    await ada.page.wait_for_url(f"{other_url}/**")
    await ada.page.get_by_role("button", name="Show on my profile").click()
    done = ada.page.get_by_role("dialog", name="Your accounts are linked")
    await done.locator("footer").get_by_role("button", name="Close").click()
    [link] = await links_of(ada)
    assert urlsplit(link["origin"]).netloc == own_host
    settings = await open_settings(ada, "Servers")
    await settings.get_by_role("button", name=f"Remove {own_host} from the profile").click()
    await expect(settings.get_by_text("On your profile since")).to_have_count(0)
    assert await links_of(ada) == []


@wide_only
async def test_consent_can_be_declined_on_either_server(
    people: People, product: SvcUp, elsewhere: Elsewhere
) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    await add(ada, await joins_there(ada, elsewhere, GARDENER))
    await ada.page.keyboard.press("Escape")
    dialog = await starts_linking(ada)
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_have_count(0)
    assert ada.page.url.startswith(product.url.partition("#")[0])
    await ada.page.keyboard.press("Escape")
    dialog = await starts_linking(ada)
    await dialog.get_by_role("button", name="Continue").click()
    question = ada.page.get_by_role("dialog", name="Is the account on")
    await question.get_by_role("button", name="Cancel").click()
    await expect(question).to_have_count(0)
    assert ada.page.url.startswith(elsewhere.recorder.url)
    assert (await ask(ada, "GET", "/api/me/account-confirmations"))["confirmations"] == []


@wide_only
async def test_a_client_rejects_messages_that_are_not_from_the_other_server_of_its_user(
    people: People, product: SvcUp, elsewhere: Elsewhere
) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    await add(ada, await joins_there(ada, elsewhere, GARDENER))
    origin = await ada.page.evaluate("origin")
    jwk = await ada.page.evaluate("""() => new Promise((resolve) => {
      indexedDB.open("svc").onsuccess = ({ target: { result } }) => {
        const keys = result.transaction("keys").objectStore("keys").get("device");
        keys.onsuccess = async () => resolve(await crypto.subtle.exportKey("jwk", keys.result.publicKey));
      };
    })""")
    me = Account(origin, await own_id(ada), Device())
    me.device.jwk = {name: jwk[name] for name in ("kty", "crv", "x", "y")}
    other_account = Account(elsewhere.recorder.url, "somebody", Device())
    stranger = Account("https://evil.example", "somebody", Device())
    now = await ada.page.evaluate("Date.now()")
    fresh = {"made_at_ms": now}
    request = {"use": "same_person_request", "made_at_ms": now}
    good = statement(other_account, me, **fresh)
    head, claims, _ = good.split(".")
    invalid = "This request to link accounts isn’t valid."
    refusals = {
        statement(stranger, me, **request): "evil.example asks to link an account, but it isn’t one",
        statement(stranger, me, **fresh): "evil.example asks to link an account, but it isn’t one",
        statement(
            other_account, me, use="same_person_request", made_at_ms=now - 2 * 3_600_000
        ): "has expired",
        f"{head}.{claims}.{statement(other_account, me, **request).split('.')[2]}": invalid,
        # Statements for a third server, for another account on this server, and for another key of ours.
        statement(other_account, Account("https://third.example", me.id, me.device), **fresh): invalid,
        statement(other_account, Account(origin, "another", me.device), **fresh): invalid,
        statement(other_account, Account(origin, me.id, Device()), **fresh): invalid,
        # An offer with a statement that we did not sign.
        f"{good}~{statement(Account(origin, me.id, Device()), other_account, **fresh)}": invalid,
        "nonsense": invalid,
    }
    for text, reason in refusals.items():
        await ada.page.goto("about:blank")
        await ada.page.goto(f"{origin}/#same={text}")
        dialog = ada.page.get_by_role("dialog", name="Link your accounts")
        await expect(dialog.get_by_text(reason)).to_be_visible()
        await expect(dialog.get_by_role("button", name="Show on my profile")).to_have_count(0)
    await ada.page.goto("about:blank")
    await ada.page.goto(f"{origin}/#same={good}")
    await expect(ada.page.get_by_role("dialog", name="Show the account on your profile?")).to_be_visible()
