"""Contains payloads from GitHub's documentation, reduced to the fields that the cards use.

All names in them are invented.
"""

from typing import Any

WEB = "https://github.test"
# A URL that is never fetched.
AVATAR = "https://127.0.0.1/u/1?v=4"
SENDER: dict[str, Any] = {
    "login": "example-user",
    "id": 1,
    "avatar_url": AVATAR,
    "html_url": f"{WEB}/example-user",
    "type": "User",
    "site_admin": False,
}
REPOSITORY: dict[str, Any] = {
    "id": 1296269,
    "name": "tool",
    "full_name": "example-org/tool",
    "private": False,
    "owner": {"login": "example-org", "id": 2, "type": "Organization"},
    "html_url": f"{WEB}/example-org/tool",
    "description": None,
    "fork": False,
    "default_branch": "main",
}
PAGE = REPOSITORY["html_url"]
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"

ISSUE = {
    "number": 7,
    "title": "It is *broken*",
    "html_url": f"{PAGE}/issues/7",
    "state": "open",
    "state_reason": None,
    "user": SENDER,
    "labels": [],
    "body": "<!-- a template -->\nSteps:\n\n1. Start it",
}
PULL_REQUEST = {
    "number": 8,
    "title": "Mend it",
    "html_url": f"{PAGE}/pull/8",
    "state": "open",
    "draft": False,
    "merged": False,
    "user": SENDER,
    "body": None,
    "head": {"ref": "mend", "sha": SHA},
    "base": {"ref": "main", "sha": SHA},
}
DISCUSSION = {
    "number": 9,
    "title": "Which way?",
    "html_url": f"{PAGE}/discussions/9",
    "category": {"name": "Q&A"},
    "body": "Left or right?",
}
COMMENT = {"id": 1, "html_url": f"{PAGE}/issues/7#issuecomment-1", "user": SENDER, "body": "Me too"}


def event(action: str | None = None, **more: object) -> dict[str, Any]:
    shared: dict[str, Any] = {"repository": REPOSITORY, "sender": SENDER}
    return {**({"action": action} if action else {}), **more, **shared}


def push(*messages: str, ref: str = "refs/heads/main", **more: object) -> dict[str, Any]:
    commits = [
        {
            "id": f"{number:07x}b57875f334f61aebed695e2e4193db5e",
            "message": message,
            "timestamp": "2026-01-31T12:00:00+01:00",
            "url": f"{PAGE}/commit/{number:07x}",
            "author": {"name": "Example User", "email": "user@example.test", "username": "example-user"},
            "added": [],
            "removed": [],
            "modified": ["README.md"],
        }
        for number, message in enumerate(messages)
    ]
    flags: dict[str, object] = {"created": False, "deleted": False, "forced": False, **more}
    return event(ref=ref, before=SHA, after=SHA, commits=commits, compare=f"{PAGE}/compare/a...b") | flags


def run(conclusion: str | None, **more: object) -> dict[str, Any]:
    return {
        "id": 30433642,
        "name": "CI",
        "head_branch": "main",
        "head_sha": SHA,
        "status": "completed",
        "conclusion": conclusion,
        "html_url": f"{PAGE}/actions/runs/30433642",
        "head_commit": {"id": SHA, "message": "Mend it\n\nAt last."},
        **more,
    }


def deployment(state: str) -> dict[str, Any]:
    status = {
        "state": state,
        "description": "Deployment finished_successfully.",
        "environment": "production",
        "environment_url": "https://tool.test",
        "target_url": f"{PAGE}/actions/runs/1",
    }
    deployed = {"ref": "main", "environment": "production", "sha": SHA}
    return event("created", deployment_status=status, deployment=deployed)
