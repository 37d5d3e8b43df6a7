"""Members get time-limited credentials for the operator's TURN server, and coturn accepts them."""

import base64
import hmac
import re

import pytest

from svc.base.config_parsing import ConfigError
from svc.base.turn_server import LIFETIME_S, TurnServer
from svc.chat.config import read
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.test_config_table import REQUIRED

SECRET = "sixteen characters and more"
URLS = "turn:turn.example:3478, turns:turn.example:443?transport=tcp"


async def test_a_joining_member_gets_every_turn_server_with_their_own_credentials(
    variables: dict[str, str],
) -> None:
    variables |= {"TURN_URLS": URLS, "TURN_SECRET": SECRET, "DISABLE_STUN": "false", "STUN_SERVERS": "a:1"}
    async with chat_server(variables) as chat, chat.member("Ada") as ada:
        reply = await ada.ask("voice_join", channel_id="lobby")
        stun, turn = reply["data"]["ice_servers"]
        assert stun == {"urls": ["stun:a:1"]}
        assert turn["urls"] == ["turn:turn.example:3478", "turns:turn.example:443?transport=tcp"]
        until, member_id = turn["username"].split(":", 1)
        assert member_id == ada.id and int(until) % 3600 == 0
        password = hmac.digest(SECRET.encode(), turn["username"].encode(), "sha1")
        assert turn["credential"] == base64.b64encode(password).decode()


async def test_without_a_turn_server_members_get_only_stun_servers(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        assert (await ada.ask("voice_join", channel_id="lobby"))["data"]["ice_servers"] == []


def test_credentials_last_at_least_a_day_and_are_stable_for_an_hour() -> None:
    server = TurnServer(["turn:a"], SECRET)
    names = {server.ice_server("ada", 7200.0 + minute * 60)["username"] for minute in range(1, 61)}
    assert names == {f"{7200 + LIFETIME_S + 3600}:ada"}


@pytest.mark.parametrize(
    ("urls", "secret", "fault"),
    [
        ("turn.example:3478", SECRET, "TURN_URLS must list addresses such as"),
        ("stun:turn.example:3478", SECRET, "TURN_URLS must list"),
        ("turn:turn.example:3478?transport=sctp", SECRET, "TURN_URLS must list"),
        ("turn:turn.example", "", "TURN_URLS needs TURN_SECRET"),
        ("turn:turn.example", "short", "TURN_URLS needs TURN_SECRET, 16 characters"),
        ("", SECRET, "TURN_SECRET needs TURN_URLS"),
    ],
)
def test_the_error_for_an_invalid_setting_names_it(urls: str, secret: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(fault)):
        read({**REQUIRED, "TURN_URLS": urls, "TURN_SECRET": secret})


def test_printed_settings_do_not_contain_the_secret() -> None:
    config = read({**REQUIRED, "TURN_URLS": "turn:[2001:db8::1]:3478", "TURN_SECRET": SECRET})
    assert config.media.turn is not None and list(config.media.turn.urls) == ["turn:[2001:db8::1]:3478"]
    assert SECRET not in repr(config)
