"""After each change to a list, the members who manage it receive an event, and no others do."""

from tests.chat.members_by_role import MembersByRole, member_with


async def test_managers_of_bans_invites_bots_and_backups_are_notified_of_changes(
    members: MembersByRole,
) -> None:
    keepers = {
        area: await member_with(members, permission)
        for area, permission in (
            ("bans", "ban_members"),
            ("invites", "manage_invites"),
            ("bots", "manage_bots"),
        )
    }
    bot = (
        f"/api/bots/{(await members.owner.done('POST', '/api/bots', {'nickname': 'Robot'}))['member']['id']}"
    )
    ban = f"/api/bans/{members.guest.id}"
    async with (
        members.live("owner", "member") as [owner, member],
        members.chat.member("", keepers["bans"].token) as bans,
        members.chat.member("", keepers["invites"].token) as invites,
        members.chat.member("", keepers["bots"].token) as bots,
    ):
        await members.owner.done("POST", f"{bot}/token")
        await members.owner.done("DELETE", bot)
        await members.owner.done("PUT", ban)
        await members.owner.done("DELETE", ban)
        made = await members.member.done("POST", "/api/invites")
        await members.owner.done("DELETE", f"/api/invites/{made['id']}")
        await members.owner.done("POST", "/api/backups")
        await owner.pushed("backup_finished")
        for page, areas in (
            (bots, ["bots"] * 2),
            (bans, ["bans"] * 2),
            # The member created an invite, which someone else revoked.
            (member, ["invites"] * 2),
            (invites, ["invites"] * 2),
        ):
            # Earlier events arrive before the response.
            await page.ask("ping")
            count = page.kept_events().count("managed")
            assert [(await page.pushed("managed"))["area"] for _ in range(count)] == areas
