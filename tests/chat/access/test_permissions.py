"""Computed permissions match a slow model that checks one permission at a time."""

from hypothesis import given
from hypothesis import strategies as st

from svc.chat.access.directory import TEXT, Channel, Directory, Member
from svc.chat.access.permissions import (
    EVERYTHING,
    NOTHING,
    OF_A_CHANNEL,
    OWNER,
    Override,
    Overrides,
    Permission,
    Role,
    from_names,
    from_store,
    names,
    to_store,
)

NOW = 1_800_000_000.0
SAMPLE = [
    Permission.VIEW_CHANNEL,
    Permission.SEND_MESSAGES,
    Permission.SPEAK,
    Permission.KICK_MEMBERS,
    Permission.MANAGE_ROLES,
]
ROLE_IDS = ("a", "b", "c", OWNER)


def union(flags: list[Permission]) -> Permission:
    together = NOTHING
    for flag in flags:
        together |= flag
    return together


sets = st.lists(st.sampled_from(SAMPLE), unique=True).map(union)
channel_sets = sets.map(lambda permissions: permissions & OF_A_CHANNEL)
overrides = st.builds(lambda allow, deny: Override(allow, deny & ~allow), channel_sets, channel_sets)
worlds = st.fixed_dictionaries(
    {
        "roles": st.fixed_dictionaries(dict.fromkeys(ROLE_IDS[:3], sets)),
        "held": st.lists(st.sampled_from(ROLE_IDS), unique=True),
        "of_roles": st.dictionaries(st.sampled_from(ROLE_IDS), overrides),
        "of_members": st.dictionaries(st.sampled_from(("ada", "bob")), overrides),
        "timeout": st.sampled_from((0.0, NOW - 1, NOW + 1)),
    }
)


def is_permitted(world: dict[str, object], wanted: Permission, in_channel: bool) -> bool:
    """Return whether a member has a permission. The owner has every permission. For other members, channel
    overrides take precedence over roles.
    """
    roles, held, of_roles, of_members = (world[k] for k in ("roles", "held", "of_roles", "of_members"))
    assert isinstance(roles, dict) and isinstance(held, list)
    assert isinstance(of_roles, dict) and isinstance(of_members, dict)
    if world["timeout"] == NOW + 1 and wanted is not Permission.VIEW_CHANNEL:
        return False
    if OWNER in held:
        return True

    def decided(permission: Permission) -> bool:
        answer = any(permission in roles[role_id] for role_id in held)
        if not in_channel:
            return answer
        if any(permission in of_roles[role_id].deny for role_id in held if role_id in of_roles):
            answer = False
        if any(permission in of_roles[role_id].allow for role_id in held if role_id in of_roles):
            answer = True
        if "ada" in of_members:
            answer = answer and permission not in of_members["ada"].deny
            answer = answer or permission in of_members["ada"].allow
        return answer

    blind = in_channel and not decided(Permission.VIEW_CHANNEL)
    return decided(wanted) and not (blind and wanted in OF_A_CHANNEL)


@given(worlds)
def test_permissions_follow_the_model(world: dict[str, object]) -> None:
    directory = Directory(lambda: NOW)
    roles, held, of_roles, of_members = (world[k] for k in ("roles", "held", "of_roles", "of_members"))
    assert isinstance(roles, dict) and isinstance(held, list)
    for role_id, permissions in roles.items():
        directory.put_role(Role(role_id, role_id, 1, permissions))
    timeout = world["timeout"]
    assert isinstance(timeout, float)
    directory.put_member(Member("ada", "Ada", tuple(held), timeout_until=timeout))
    channel = Channel("x", "x", TEXT, overrides=Overrides(of_roles, of_members))  # type: ignore[arg-type]
    directory.put_channel(channel)
    for permission in SAMPLE:
        assert directory.has_permission("ada", permission) == is_permitted(
            world, permission, in_channel=False
        )
        assert directory.has_permission("ada", permission, "x") == is_permitted(
            world, permission, in_channel=True
        )
    assert ("ada" in directory.viewers("x")) == is_permitted(world, Permission.VIEW_CHANNEL, in_channel=True)
    assert [c.id for c in directory.visible_channels("ada")] == ["x"] * ("ada" in directory.viewers("x"))
    assert directory.would_have("ada", channel) == directory.permissions("ada", "x") or timeout > NOW


members = st.builds(
    lambda id_, held, until: Member(id_, id_, tuple(held), timeout_until=until),
    st.sampled_from(("ada", "bob", "bot")),
    st.lists(st.sampled_from(ROLE_IDS), unique=True, max_size=2),
    st.sampled_from((0.0, NOW + 1)),
)
channels = st.builds(
    lambda id_, position, of_roles, of_members: Channel(
        id_, id_, TEXT, position, overrides=Overrides(of_roles, of_members)
    ),
    st.sampled_from(("x", "y")),
    st.integers(0, 2),
    st.dictionaries(st.sampled_from(ROLE_IDS), overrides, max_size=2),
    st.dictionaries(st.sampled_from(("ada", "bob", "bot")), overrides, max_size=1),
)
changes = st.one_of(
    members.map(lambda member: ("put_member", member)),
    channels.map(lambda channel: ("put_channel", channel)),
    st.builds(lambda id_, held: ("put_role", Role(id_, id_, 1, held)), st.sampled_from(ROLE_IDS[:3]), sets),
    st.sampled_from(("x", "y")).map(lambda id_: ("drop_channel", id_)),
    st.sampled_from(ROLE_IDS[:3]).map(lambda id_: ("drop_role", id_)),
    st.sampled_from(("ada", "bob")).map(lambda id_: ("drop_member", id_)),
    st.sampled_from(("ada", "bob", None)).map(lambda maker: ("put_token_maker", "bot", maker)),
)


@given(st.lists(changes, max_size=12))
def test_visible_channels_are_updated_after_every_change(made: list[tuple[str, object]]) -> None:
    directory = Directory(lambda: NOW)
    for name, *arguments in made:
        getattr(directory, name)(*arguments)
        for member_id in ("ada", "bob", "bot"):
            view = Permission.VIEW_CHANNEL
            ordered = directory.ordered_channels()
            expected = [c for c in ordered if directory.has_permission(member_id, view, c.id)]
            assert directory.visible_channels(member_id) == expected


@given(st.lists(st.sampled_from(list(Permission)), unique=True).map(union))
def test_permissions_survive_json_and_the_database(permissions: Permission) -> None:
    assert from_names(names(permissions)) == permissions
    assert from_store(to_store(permissions)) == permissions
    assert from_store(f"{to_store(permissions)} of_another_version") == permissions


def test_unknown_members_have_no_permissions() -> None:
    directory = Directory(lambda: NOW)
    directory.put_channel(Channel("x", "x", TEXT))
    assert directory.permissions("nobody") == directory.permissions("nobody", "x") == NOTHING
    directory.put_member(Member("ada", "Ada", (OWNER,)))
    assert directory.permissions("ada") == EVERYTHING
    assert directory.permissions("ada", "gone") == NOTHING
