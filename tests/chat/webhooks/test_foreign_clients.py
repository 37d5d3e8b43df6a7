"""Third-party clients can post to webhooks, and their messages appear as expected.

Clients from PyPI and npm are pinned in tests/clients. Alertmanager comes from Debian.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.alertmanager import alertmanager, posting_to_slack
from tests.kit.packages import NODE, npm_packages, python_packages
from tests.kit.programs import output_of

CLIENTS = Path(__file__).parents[2] / "clients"

# The first test with a package registry installs the packages.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def hook(chat: ChatServer) -> AsyncIterator[Hook]:
    async with hook_of(await newcomer(chat, "Owner")) as made:
        yield made


async def test_apprise_posts_text_under_a_name(hook: Hook, tmp_path: Path) -> None:
    """Configure Apprise to use the webhook's key names and to omit other keys."""
    programs = await python_packages(CLIENTS / "requirements.txt")
    keys = ":message=text&:title=display_name&:version=&:type=&:attachments="
    url = f"{hook.url.replace('http://', 'json://')}?{keys}"
    await output_of(
        programs / "apprise", "--title", "Backups", "--body", "All is **saved**", url, cwd=tmp_path
    )
    message = await hook.arrived()
    assert message["author"]["display_name"] == "Backups"
    assert message["text"] == "All is **saved**"
    assert message["cards"] == []


async def test_ansible_posts_a_card_with_fields(hook: Hook, tmp_path: Path) -> None:
    programs = await python_packages(CLIENTS / "requirements.txt")
    host, took = {"name": "Host", "value": "web-1", "inline": True}, {"name": "Took", "value": "12 s"}
    card = {"title": "Deployed", "url": "https://deploy.test/12", "color": "#2da44e", "fields": [host, took]}
    task = {
        "ansible.builtin.uri": {
            "url": hook.url,
            "method": "POST",
            "body_format": "json",
            "body": {"text": "Version 12 is out", "display_name": "Deployments", "cards": [card]},
            "status_code": 200,
            "return_content": True,
        },
        "register": "posted",
    }
    wanted = {"ansible.builtin.assert": {"that": ["posted.json.warnings == []"]}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task, wanted]}
    book = tmp_path / "play.yml"
    book.write_text(json.dumps([play]))
    environment = {"ANSIBLE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    python = f"ansible_python_interpreter={programs / 'python'}"
    command = (programs / "ansible-playbook", "-i", "localhost,", "-e", python, book)
    await output_of(*command, cwd=tmp_path, env=environment)
    message = await hook.arrived()
    assert message["text"] == "Version 12 is out"
    assert message["author"]["display_name"] == "Deployments"
    assert message["cards"] == [
        {
            "title": "Deployed",
            "url": "https://deploy.test/12",
            "color": 0x2DA44E,
            "fields": [host, {**took, "inline": False}],
        }
    ]


DISCORD_PROGRAM = """
import sys
from discord_webhook import DiscordEmbed, DiscordWebhook

text = "Build **12** for <@80351110224678912>"
hook = DiscordWebhook(sys.argv[1] + "/discord", content=text, username="CI")
embed = DiscordEmbed(title="Failed", description="2 of 300 tests", color="cf222e", url="https://ci.test/12")
embed.set_author(name="example-user", url="https://ci.test/users/1")
embed.set_footer(text="main")
embed.set_timestamp(1769860800)
embed.add_embed_field(name="Branch", value="main")
embed.add_embed_field(name="Log", value="`exit 1`", inline=False)
hook.add_embed(embed)
response = hook.execute()
print(response.status_code, hook.id)
hook = DiscordWebhook(sys.argv[1] + "/discord", content="With a file")
hook.add_file(file=b"a log", filename="log.txt")
print(hook.execute().status_code)
print(DiscordWebhook(sys.argv[1] + "x/discord", content="lost").execute().json()["message"])
"""


async def test_discord_webhook_posts_an_embed(hook: Hook, tmp_path: Path) -> None:
    programs = await python_packages(CLIENTS / "requirements.txt")
    printed = await output_of(programs / "python", "-c", DISCORD_PROGRAM, hook.url, cwd=tmp_path)
    message = await hook.arrived()
    assert f"200 {message['id']}" in printed.splitlines()
    assert message["text"] == "Build **12** for @80351110224678912"
    assert message["author"]["display_name"] == "CI"
    assert message["cards"] == [
        {
            "title": "Failed",
            "url": "https://ci.test/12",
            "description": "2 of 300 tests",
            "color": 0xCF222E,
            "author": {"name": "example-user", "url": "https://ci.test/users/1"},
            "fields": [
                {"name": "Branch", "value": "main", "inline": True},
                {"name": "Log", "value": "`exit 1`", "inline": False},
            ],
            "footer": {"text": "main"},
            "timestamp": "2026-01-31T12:00:00+00:00",
        }
    ]
    message = await hook.arrived()
    assert message["text"] == "With a file"
    assert [file["name"] for file in message["attachments"]] == ["log.txt"]
    assert "Unknown Webhook" in printed


SLACK_PROGRAM = """
import { IncomingWebhook } from "@slack/webhook";

const hook = new IncomingWebhook(process.argv[1] + "/slack", { username: "CI" });
const answer = await hook.send({
  text: "*Build 12* failed: <https://ci.test/12|see why> &amp; mend it <!here>",
  attachments: [
    { color: "danger", title: "2 of 300", fields: [{ title: "Branch", value: "`main`", short: true }] },
  ],
});
console.log(answer.text);
await hook.send({ blocks: [{ type: "section", text: { type: "mrkdwn", text: "in ~a~ *block*" } }] });
const lost = new IncomingWebhook(process.argv[1] + "x/slack");
await lost.send("lost").catch((fault) => console.log(fault.original.response.data));
"""


async def test_the_official_slack_client_posts_attachments_and_blocks(hook: Hook) -> None:
    folder = await npm_packages(CLIENTS)
    command = (NODE, "--input-type=module", "--eval", SLACK_PROGRAM, hook.url)
    assert (await output_of(*command, cwd=folder)).split() == ["ok", "no_service"]
    message = await hook.arrived()
    assert message["text"] == "**Build 12** failed: [see why](https://ci.test/12) & mend it @here"
    assert message["author"]["display_name"] == "CI"
    assert message["cards"] == [
        {
            "title": "2 of 300",
            "color": 0xE01E5A,
            "fields": [{"name": "Branch", "value": "`main`", "inline": True}],
        }
    ]
    assert (await hook.arrived())["text"] == "in ~~a~~ **block**"


async def test_the_slack_receiver_in_alertmanager_posts_alerts(hook: Hook, tmp_path: Path) -> None:
    async with alertmanager(posting_to_slack(f"{hook.url}/slack"), tmp_path) as manager:
        await manager.alert("DiskFull", "Disk of web-1 & web-2 is 93% full", severity="critical")
        message = await hook.arrived()
        assert message["author"]["display_name"] == "Alertmanager"
        [card] = message["cards"]
        assert card["title"] == "[FIRING:1] DiskFull (critical)"
        assert card["url"].endswith("/#/alerts?receiver=chat")
        assert card["description"] == "Disk of web-1 & web-2 is 93% full"
        assert card["color"] == 0xE01E5A
        assert card["fields"] == [{"name": "Severity", "value": "critical", "inline": True}]
        await manager.resolve("DiskFull", severity="critical")
        [card] = (await hook.arrived())["cards"]
        assert card["title"] == "[RESOLVED] DiskFull (critical)"
        assert card["color"] == 0x2EB67D
