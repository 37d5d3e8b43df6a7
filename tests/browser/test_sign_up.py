"""The web client offers the sign-in methods that the server accepts, and shows errors next to their cause.

npm's `oidc-provider` provides the accounts, on its own pages. See docs/http.md, "Signing in and devices".
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import ViewportSize, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.kit.accounts import PAGE_CLIENT, accounts_of, authority, cancel_login, log_in_at_provider
from tests.kit.browser_users import (
    VIEWPORT,
    People,
    Person,
    SharedBrowsers,
    bare_chromium,
    narrow_only,
    wide_daily,
    wide_only,
)
from tests.kit.community import ask, confirm, open_settings, own_id
from tests.kit.device import Device
from tests.kit.oidc import OidcProvider, oidc_provider
from tests.kit.pictures import encoded, scene
from tests.kit.svc_up import SvcUp, running_svc_up
from tests.kit.text_channels import box, open_channel
from tests.kit.wait import wait_for_value

__all__ = ["axe"]

# The first run installs the provider with npm.
pytestmark = pytest.mark.timeout(240)


@asynccontextmanager
async def installation(
    browsers: SharedBrowsers, folder: Path, viewport: ViewportSize = VIEWPORT, /, **variables: str
) -> AsyncIterator[tuple[SvcUp, People]]:
    """Run a server with these variables. Yield it and users who can open its page."""
    executable = bare_chromium()
    assert executable, "Chromium is missing; ci/setup installs it"
    async with (
        running_svc_up(folder, **variables) as product,
        browsers.people_at(
            product.url, executable, viewport=viewport, service_worker=False, still=True
        ) as people,
    ):
        yield product, people
        assert people.faults == []
    assert "Traceback" not in product.output, product.output


@pytest_asyncio.fixture(loop_scope="session")
async def provider() -> AsyncIterator[OidcProvider]:
    async with oidc_provider() as running:
        yield running


async def is_in(person: Person, name: str) -> None:
    await expect(person.page.locator("#own-name")).to_have_text(name)


def without_invite(product: SvcUp) -> str:
    return product.url.partition("#")[0]


async def known(owner: Person, link: str) -> bool:
    """Return whether the link is among the valid links."""
    invites = (await ask(owner, "GET", "/api/invites"))["invites"]
    return link.partition("=")[2] in {invite["code"] for invite in invites}


async def invited(owner: Person, product: SvcUp, **options: object) -> str:
    """Create an invite. Return its link."""
    invite = await ask(owner, "POST", "/api/invites", options)
    return f"{without_invite(product)}#invite={invite['code']}"


@wide_only
async def test_a_new_person_signs_in_with_an_account_and_chooses_a_name(
    browsers: SharedBrowsers, tmp_path: Path, provider: OidcProvider, viewport: ViewportSize, axe: str
) -> None:
    async with installation(browsers, tmp_path, viewport, **accounts_of(provider)) as (_, people):
        ada = await people.arrive("Ada")
        host = provider.issuer.removeprefix("http://")
        await expect(ada.page.get_by_label("Your name")).to_have_count(0)
        await expect(ada.page.get_by_text(f"This server only accepts accounts from {host}.")).to_be_visible()
        await expect_accessible(ada, axe, "a server that accepts only accounts")
        await ada.press(f"Continue with {host}")
        await log_in_at_provider(ada, "ada-at-home")

        await expect(ada.page.get_by_text("Welcome!")).to_be_visible()
        await expect_accessible(ada, axe, "a new member with an account")
        assert "code=" not in ada.page.url
        assert await ada.page.evaluate("() => sessionStorage['svc.sign-in']") is None
        await ada.come_in()
        await is_in(ada, "Ada")


@wide_only
async def test_an_account_is_the_same_member_on_another_device_and_after_signing_out(
    browsers: SharedBrowsers, tmp_path: Path, provider: OidcProvider, viewport: ViewportSize
) -> None:
    host = provider.issuer.removeprefix("http://")
    variables = accounts_of(provider, "account, local")
    async with installation(browsers, tmp_path, viewport, **variables) as (product, people):
        ada = await people.arrive("Ada")
        await ada.page.get_by_label("Your name").fill("Ada")
        await ada.press(f"Continue with {host}")
        await cancel_login(ada)
        await expect(ada.page.get_by_text(f"You didn’t finish signing in with {host}.")).to_be_visible()
        # The page restores the name that was entered, and the invite.
        await expect(ada.page.get_by_label("Your name")).to_have_value("Ada")
        await expect(ada.page.get_by_label("Invite code")).to_have_count(0)
        # The page rejects a response to a sign-in that this tab did not start.
        await ada.page.goto(f"{without_invite(product)}?code=stolen&state=made-up")
        await expect(ada.page.get_by_text("This sign-in wasn’t started in this tab.")).to_be_visible()
        assert "code=" not in ada.page.url
        await ada.page.goto("about:blank")
        await ada.page.goto(product.url)
        await ada.page.get_by_label("Your name").fill("Ada")
        await ada.press(f"Continue with {host}")
        await log_in_at_provider(ada, "ada")
        await is_in(ada, "Ada")
        first = await own_id(ada)

        elsewhere = await people.arrive("Ada")
        await elsewhere.press(f"Continue with {host}")
        await log_in_at_provider(elsewhere, "ada")
        await is_in(elsewhere, "Ada")
        assert await own_id(elsewhere) == first

        await ada.show_channels()
        await ada.press("Settings")
        await ada.press("Session")
        await ada.press("Sign out")
        await confirm(ada, "Sign out")
        await ada.press("Sign in as Ada")
        # The provider remembers the person and only asks for consent.
        await ada.press("Continue")
        await is_in(ada, "Ada")
        assert await own_id(ada) == first


@wide_only
async def test_the_person_named_in_a_certificate_for_the_browsers_key_can_sign_in(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize, axe: str
) -> None:
    async with (
        authority() as issuer,
        installation(
            browsers,
            tmp_path / "data",
            viewport,
            SVC_TRUSTED_CERT_ISSUERS=issuer.address,
            SVC_IDENTITY_TIERS="account, local",
        ) as (_, people),
    ):
        ada = await people.arrive("Ada")
        await ada.page.get_by_label("Your name").fill("Ada")
        await ada.press("Use a certificate")
        field = ada.page.get_by_label("Certificate")
        await field.fill("no certificate")
        await ada.press("Sign in")
        await expect(field).to_have_accessible_description(
            "This isn’t a certificate. A certificate is one long line with two dots in it."
        )
        await field.fill(issuer.certificate(Device().jwk, "ada@example.org"))
        await ada.press("Sign in")
        await expect(ada.page.get_by_text("This certificate is for another browser’s key.")).to_be_visible()

        await ada.page.get_by_text("This browser’s public key", exact=True).click()
        await expect_accessible(ada, axe, "the form for a certificate")
        jwk = json.loads(await ada.page.locator("#public-key").inner_text())
        file = tmp_path / "ada.jwt"
        file.write_text(issuer.certificate(jwk, "ada@example.org") + "\n")
        await ada.page.locator("input[type=file]").set_input_files(file)
        await expect(field).to_have_value(file.read_text().strip())
        await ada.press("Sign in")
        await is_in(ada, "Ada")


@narrow_only
async def test_a_closed_server_gives_the_reason(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize, axe: str
) -> None:
    async with installation(browsers, tmp_path / "closed", viewport, SVC_SERVER_ENABLED="false") as (
        _,
        people,
    ):
        ada = await people.arrive("Ada")
        await expect(ada.page.locator("main [role=alert]")).to_contain_text(
            "isn’t accepting new members right now"
        )
        await expect_accessible(ada, axe, "a server that admits nobody")
        await expect(ada.page.get_by_role("button")).to_have_count(0)
    nothing = {"SVC_IDENTITY_TIERS": "account"}
    async with installation(browsers, tmp_path / "nothing", viewport, **nothing) as (_, people):
        ada = await people.arrive("Ada")
        await expect(ada.page.locator("main [role=alert]")).to_contain_text("no account provider is set up")
        await expect(ada.page.get_by_role("button")).to_have_count(0)
    away = {
        "SVC_IDENTITY_TIERS": "account",
        "SVC_OIDC_ISSUER": "http://127.0.0.1:9",
        "SVC_OIDC_AUDIENCE": PAGE_CLIENT,
    }
    async with installation(browsers, tmp_path / "away", viewport, **away) as (_, people):
        ada = await people.arrive("Ada")
        await ada.press("Continue with 127.0.0.1:9")
        await expect(ada.page.locator("main [role=alert]")).to_contain_text(
            "Can’t reach the account provider right now"
        )
        await expect_accessible(ada, axe, "an unreachable account provider")
        await expect(ada.page.get_by_role("button", name="Continue with 127.0.0.1:9")).to_be_enabled()


@wide_daily
async def test_an_invite_previews_the_server_and_its_members(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize, axe: str
) -> None:
    variables = {"SERVER_NAME": "The Quiet Garden", "SERVER_DESCRIPTION": "Plants, and people who like them."}
    async with installation(browsers, tmp_path, viewport, **variables) as (product, people):
        ada = await people.arrive("Ada")
        await expect(
            ada.page.get_by_text("You’re the first one here. This link makes you the owner.")
        ).to_be_visible()
        await ada.come_in()

        grace = await people.arrive("Grace", url=await invited(ada, product))
        await expect(grace.page.get_by_role("heading", name="Join The Quiet Garden")).to_be_visible()
        await expect(grace.page.get_by_text("Plants, and people who like them.")).to_be_visible()
        await expect(grace.page.get_by_text("1 member 1 online")).to_be_visible()
        await expect_accessible(grace, axe, "an invitation")


@narrow_only
async def test_a_person_without_a_valid_invite_must_enter_an_invite_and_a_name(
    people: People, product: SvcUp, axe: str
) -> None:
    ada = await people.arrive("Ada", url=without_invite(product))
    await expect(ada.page.get_by_label("Invite code")).to_be_visible()
    await ada.press("Join")
    name = ada.page.get_by_label("Your name")
    await expect(name).to_have_accessible_description("Enter a name.")
    await expect(name).to_be_focused()
    await name.fill("Ada")
    await ada.press("Join")
    await expect(ada.page.get_by_label("Invite code")).to_have_attribute("aria-invalid", "true")

    # A wrong code is reported immediately. A complete link can be pasted instead of a code.
    await ada.page.goto("about:blank")
    await ada.page.goto(product.url)
    await ada.come_in()
    gone = await invited(ada, product, lifetime_s=1)
    await wait_for_value(lambda: known(ada, gone), False)
    grace = await people.arrive("Grace", url=gone)
    field = grace.page.get_by_label("Invite code")
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_have_accessible_description(
        "You need an invite to join. Paste the code or the full link. "
        "This invite is invalid or has expired. Ask for a new one."
    )
    await expect_accessible(grace, axe, "an expired invite")
    await field.fill(await invited(ada, product))
    await grace.page.get_by_label("Your name").fill("Grace")
    await grace.press("Join")
    await is_in(grace, "Grace")


@wide_only
async def test_an_approved_applicant_sees_the_invites_channel(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize
) -> None:
    async with installation(browsers, tmp_path, viewport, ADDITIONAL_CHANNELS="random") as (product, people):
        ada = await people.join("Ada")
        grace = await people.arrive("Grace")
        await grace.page.goto(await invited(ada, product, approval=True, channel_id="random"))
        await grace.page.get_by_label("Message to the moderators (optional)").fill("We met at the market.")
        await grace.page.get_by_label("Your name").fill("Grace")
        await grace.press("Join")
        await expect(grace.page.get_by_text("Waiting for approval")).to_be_visible()
        (application,) = (await ask(ada, "GET", "/api/applications"))["applications"]
        assert application["message"] == "We met at the market."
        await ask(ada, "POST", f"/api/applications/{application['id']}/approve", {})
        await is_in(grace, "Grace")
        await expect(grace.page.locator("#text-name")).to_have_text("random")


@narrow_only
async def test_a_returning_member_sees_the_last_channel_without_the_steps_they_have_hidden(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize
) -> None:
    async with installation(browsers, tmp_path, viewport, ADDITIONAL_CHANNELS="random") as (product, people):
        ada = await people.arrive("Ada")
        await ada.come_in()
        steps = ada.page.get_by_role("region", name="Your server is ready")
        await ada.press("Hide these steps")
        await expect(steps).to_have_count(0)
        await open_channel(ada, "random")
        await ada.page.goto("about:blank")
        await ada.page.goto(without_invite(product))
        await expect(ada.page.locator("#text-name")).to_have_text("random")
        await expect(box(ada)).to_be_enabled()
        await expect(steps).to_have_count(0)
        await open_channel(ada, "general")
        await expect(steps).to_have_count(0)


@wide_only
async def test_a_new_device_can_sign_in_with_a_code(people: People, product: SvcUp, axe: str) -> None:
    ada = await people.join("Ada")
    code = (await ask(ada, "POST", "/api/me/devices/link", {}))["code"]
    phone = await people.arrive("Ada", url=without_invite(product))
    await phone.press("I’m already a member on another device")
    field = phone.page.get_by_label("Code", exact=True)
    await phone.press("Add device")
    await expect(field).to_have_attribute("aria-invalid", "true")
    await field.fill("wrong")
    await phone.press("Add device")
    await expect(phone.page.get_by_text("This code is invalid, already used or expired.")).to_be_visible()
    await expect_accessible(phone, axe, "the form for a code")
    await field.fill(str(code))
    await phone.press("Add device")
    await is_in(phone, "Ada")
    assert await own_id(phone) == await own_id(ada)

    # People who have lost all devices can return with a code from the owner.
    grace = await people.arrive("Grace", reads="general")
    grace_id = await own_id(grace)
    code = (await ask(ada, "POST", f"/api/members/{grace_id}/recovery", {}))["code"]
    recovered = await people.arrive("Grace", url=f"{without_invite(product)}#link={code}")
    await expect(recovered.page.get_by_label("Code", exact=True)).to_have_value(str(code))
    await recovered.press("Add device")
    await is_in(recovered, "Grace")
    assert await own_id(recovered) == grace_id
    assert "link=" not in recovered.page.url
    # The lost device is signed out.
    await expect(grace.page.get_by_role("alert").first).to_be_visible()


@narrow_only
async def test_a_member_who_lost_every_device_can_return_with_their_recovery_code(
    people: People, product: SvcUp, axe: str
) -> None:
    await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    page = await open_settings(grace, "Devices")
    await expect(page).to_contain_text("This is your only device.")
    await page.get_by_role("button", name="Create recovery code").click()
    code = await page.get_by_label("Your recovery code").input_value()
    await expect(page).to_contain_text("This code is shown only once.")
    await expect(page).not_to_contain_text("This is your only device.")
    await expect_accessible(grace, axe, "a recovery code")
    await grace.page.reload()
    page = await open_settings(grace, "Devices")
    await expect(page).to_contain_text("Created on")
    await expect(page).not_to_contain_text(code)

    # The member does not need the owner's help, and the lost device is signed out.
    recovered = await people.arrive("Grace", url=without_invite(product))
    await recovered.press("I’m already a member on another device")
    await recovered.page.get_by_label("Code", exact=True).fill(code)
    await recovered.press("Add device")
    await is_in(recovered, "Grace")
    await expect(grace.page.get_by_role("alert").first).to_be_visible()
    page = await open_settings(recovered, "Devices")
    await expect(page).to_contain_text("This is your only device.")
    await expect(page.get_by_role("button", name="Create recovery code")).to_be_visible()


@narrow_only
async def test_new_members_see_and_accept_the_servers_rules(people: People, product: SvcUp, axe: str) -> None:
    ada = await people.join("Ada")
    await ask(ada, "PATCH", "/api/settings", {"rules": "Be kind.\nWater the plants."})
    grace = await people.arrive("Grace", url=await invited(ada, product))
    await expect(grace.page.get_by_role("region", name="Server rules")).to_contain_text("Be kind.")
    await grace.page.get_by_label("Your name").fill("Grace")
    await grace.press("Join")
    switch = grace.page.get_by_role("switch", name="I accept the rules")
    await expect(switch).to_have_accessible_description("Accept the rules first.")
    await expect_accessible(grace, axe, "the rules for newcomers")
    # The rules change in the meantime. Nobody can accept rules that they have not seen.
    await ask(ada, "PATCH", "/api/settings", {"rules": "Be kind."})
    await switch.check()
    await grace.press("Join")
    await expect(grace.page.get_by_role("region", name="Server rules")).not_to_contain_text("plants")
    await expect(switch).not_to_be_checked()
    await switch.check()
    await grace.press("Join")
    await is_in(grace, "Grace")


@wide_only
async def test_a_new_owner_is_greeted_with_four_setup_steps(people: People, product: SvcUp, axe: str) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    steps = ada.page.get_by_role("region", name="Your server is ready")
    await expect(steps.get_by_text("Step 1 of 4")).to_be_visible()
    await expect(steps.get_by_role("textbox")).to_have_count(1)
    await expect(steps.get_by_role("button", name="Choose picture")).to_have_count(0)
    await ada.press("Save")
    field = steps.get_by_label("Server name")
    await expect(field).to_have_accessible_description("Enter a name.")
    await field.fill("The Quiet Garden")
    await ada.press("Save")
    await expect(steps.get_by_text("Your server is called The Quiet Garden")).to_be_visible()
    await expect(ada.page.locator(".server-head h2")).to_have_text("The Quiet Garden")

    icon = {"name": "icon.png", "mimeType": "image/png", "buffer": encoded(scene(128, 128), "PNG")}
    # A skipped step can be completed later.
    await ada.press("Skip")
    await expect(steps.get_by_text("Step 3 of 4")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Create channel")).to_be_focused()
    await ada.press("Give your server an icon")
    async with ada.page.expect_file_chooser() as choosing:
        await ada.press("Choose picture")
    await (await choosing.value).set_files(icon)  # type: ignore[arg-type]
    await expect(steps.get_by_text("Your server has an icon")).to_be_visible()
    await expect(ada.page.locator(".server-head img")).not_to_have_attribute("src", "/web/icon.svg")
    await expect(steps.get_by_text("Done:")).to_have_count(2)
    await at_both_sizes(ada, axe, "the first steps")

    await ada.press("Create channel")
    await ada.page.get_by_role("dialog").get_by_role("textbox").first.fill("onions")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Create").click()
    await expect(ada.page.locator("#text-name")).to_have_text("onions")
    await expect(steps.get_by_text("Done:")).to_have_count(3)

    await ada.press("Create link")
    await expect(ada.page.get_by_role("dialog", name="Invite people")).to_be_visible()
    await ada.page.keyboard.press("Escape")
    grace = await people.arrive("Grace", url=await invited(ada, product))
    await expect(grace.page.get_by_role("heading", name="Join The Quiet Garden")).to_be_visible()
    await grace.come_in()
    await expect(steps).to_have_count(0)
    await expect(grace.page.locator("#beginning")).to_be_visible()
    await expect(grace.page.get_by_role("region", name="Your server is ready")).to_have_count(0)

    # Only the owner sees the steps. A moderator and a member see an empty channel.
    await ask(ada, "PUT", f"/api/members/{await own_id(grace)}/roles/moderator", {})
    await grace.page.reload()
    edsger = await people.arrive("Edsger", reads="general")
    for person in (grace, edsger):
        await expect(person.page.locator("#beginning")).to_be_visible()
        await expect(person.page.get_by_role("region", name="Your server is ready")).to_have_count(0)
