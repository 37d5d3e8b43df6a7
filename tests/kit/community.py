"""Creates a community whose owner, moderator and member can send requests with or without an open page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Locator, Response, expect

from tests.kit.browser_users import Absentee, People, Person

MODERATOR_RANK = 300
ROLES = ("owner", "moderator", "member")
ASK = """async ([method, path, body]) => {
  const { access_token: token } = JSON.parse(localStorage.getItem("svc.identity"));
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const sent = body === null ? undefined : JSON.stringify(body);
  const answer = await fetch(path, { method, headers, body: sent });
  return [answer.status, answer.status === 204 ? null : await answer.json()];
}"""


@dataclass(frozen=True, slots=True)
class Community:
    """A community in which `moderator` has some permissions that `member` lacks."""

    owner: Person
    moderator: Person
    member: Person


async def ask(person: Person, method: str, path: str, body: object = None) -> Any:
    """Send a request as this person. Return the response, which must not be an error."""
    status, answer = await _response(person, method, path, body)
    assert status < 300, answer
    return answer


async def post(person: Person, text: str, channel_id: str = "general") -> None:
    """Post a message with a request, which takes less CPU time than typing it."""
    await ask(person, "POST", f"/api/channels/{channel_id}/messages", {"text": text})


async def refusal(person: Person, method: str, path: str, body: object = None) -> str:
    """Send a request that the server must reject. Return the error code."""
    status, answer = await _response(person, method, path, body)
    assert status >= 400, answer
    return str(answer["error"])


async def _response(person: Person, method: str, path: str, body: object) -> tuple[int, Any]:
    if isinstance(person, Absentee):
        return await person.request(method, path, body)
    status, answer = await person.page.evaluate(ASK, [method, path, body])
    return status, answer


async def own_id(person: Person) -> str:
    if isinstance(person, Absentee):
        return person.id
    return str(await person.page.evaluate("() => JSON.parse(localStorage.getItem('svc.identity')).member.id"))


async def give(owner: Person, person: Person, permissions: Sequence[str], name: str = "Helpers") -> str:
    """Give a person a new role with these permissions. Return the role's id."""
    role_body = {"name": name, "rank": MODERATOR_RANK, "permissions": list(permissions)}
    role = await ask(owner, "POST", "/api/roles", role_body)
    await ask(owner, "PUT", f"/api/members/{await own_id(person)}/roles/{role['id']}")
    return str(role["id"])


async def community(people: People, *permissions: str, pages: Sequence[str] = ROLES) -> Community:
    """Create a community whose owner is Ada. Grace has the given permissions, and Edsger has none.

    `pages` are the roles of the people who open a page. Each page takes half a second of CPU time.
    """
    ada, grace, edsger = [
        await (people.arrive(name, reads="general") if role in pages else people.join(name))
        for role, name in zip(ROLES, ("Ada", "Grace", "Edsger"), strict=True)
    ]
    await give(ada, grace, permissions)
    return Community(ada, grace, edsger)


async def open_settings(person: Person, page: str) -> Locator:
    """Open a settings page."""
    await person.show_channels()
    await person.press("Settings")
    pages = person.page.get_by_role("navigation", name="Settings pages")
    button = pages.get_by_role("button", name=page, exact=True)
    await expect(button).to_be_visible()  # Reports what is shown instead, unlike a click.
    await button.click()
    return person.page.get_by_role("region", name=page, exact=True)


def changes_settings(response: Response) -> bool:
    """Return whether this is the response to a change to the server's settings, not to reading them."""
    return response.request.method == "PATCH" and response.url.endswith("/api/settings")


async def has_no_page(person: Person, page: str) -> None:
    """Check that this person has no settings page with this name."""
    await person.show_channels()
    await person.press("Settings")
    pages = person.page.get_by_role("navigation", name="Settings pages")
    await expect(pages.get_by_role("button", name="Profile", exact=True)).to_be_visible()
    await expect(pages.get_by_role("button", name=page, exact=True)).to_have_count(0)
    await person.page.keyboard.press("Escape")


async def pick(within: Locator, label: str, name: str) -> None:
    """Choose a role or a person by keyboard in a field with autocompletion."""
    field = within.get_by_label(label, exact=True)
    await field.fill(name)
    await expect(within.locator(".offered button")).to_have_text([re.compile(name, re.IGNORECASE)])
    await field.press("Enter")


async def confirm(person: Person, action: str) -> None:
    """Press the button with this label in the topmost confirmation dialog."""
    question = person.page.locator("dialog.confirm")
    await question.get_by_role("button", name=action, exact=True).click()


def listed(person: Person, name: str) -> Locator:
    """Return a person's entry in the member list that is open on this page."""
    return person.page.locator(".members li").filter(has=person.page.locator(".who").filter(has_text=name))
